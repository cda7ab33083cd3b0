/** The rows of webhooks and of their deliveries, and the columns that their tables must have. */
import type { Column, Table } from 'drizzle-orm'
import type { PluginResource } from '../../../server/plugin/server'

export interface WebhookRow {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly active: boolean
  readonly owner: string
  readonly organizationId: string | null
  readonly slot: string
  readonly pausedReason: PausedReason | null
  readonly failures: number
  readonly secret: string
  readonly previousSecret: string | null
  readonly previousUntil: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/**
 * Why the server has switched a webhook off. `dead`: five deliveries in a row were given up. `gone`: the receiver answered 410.
 * `revoked`: its owner is gone, or can no longer read the resource.
 */
export type PausedReason = 'dead' | 'gone' | 'revoked'

export interface DeliveryRow {
  readonly id: string
  readonly webhookId: string
  readonly event: string
  readonly resource: string | null
  readonly recordId: string | null
  readonly status: 'pending' | 'delivered' | 'failed' | 'dead'
  readonly attempts: number
  readonly responseStatus: number | null
  readonly responseBody: string | null
  readonly error: string | null
  readonly createdAt: Date
  readonly deliveredAt: Date | null
  readonly dueAt: Date | null
  readonly owner: string
  readonly organizationId: string | null
  readonly position: number
  readonly lease: string | null
  readonly columns: readonly string[] | null
  readonly image: Readonly<Record<string, unknown>> | null
}

type Shown = 'shown' | 'hidden'

const WEBHOOK_COLUMNS: Readonly<Record<keyof WebhookRow, Shown>> = {
  id: 'shown', url: 'shown', events: 'shown', active: 'shown', owner: 'shown', organizationId: 'shown', slot: 'hidden',
  pausedReason: 'shown', failures: 'shown', secret: 'hidden', previousSecret: 'hidden', previousUntil: 'hidden', createdAt: 'shown',
  updatedAt: 'shown',
}

const DELIVERY_COLUMNS: Readonly<Record<keyof DeliveryRow, Shown>> = {
  id: 'shown', webhookId: 'shown', event: 'shown', resource: 'shown', recordId: 'shown', status: 'shown', attempts: 'shown',
  responseStatus: 'shown', responseBody: 'shown', error: 'shown', createdAt: 'shown', deliveredAt: 'shown', dueAt: 'shown', owner: 'shown',
  organizationId: 'shown', position: 'hidden', lease: 'hidden', columns: 'hidden', image: 'hidden',
}

/** The columns of the table or of an alias of it. */
export const webhookColumns = (table: Table) => table as unknown as Readonly<Record<keyof WebhookRow, Column>>
export const deliveryColumns = (table: Table) => table as unknown as Readonly<Record<keyof DeliveryRow, Column>>

/** @throws When a table is not made of the columns of its preset. */
export function assertTables(webhooks: PluginResource, deliveries: PluginResource): void {
  assertTable(webhooks, WEBHOOK_COLUMNS, 'webhooks')
  assertTable(deliveries, DELIVERY_COLUMNS, 'webhookDeliveries')
}

function assertTable(
  { name, fields, primaryKey, deletedAt }: PluginResource, columns: Readonly<Record<string, Shown>>, preset: string,
): void {
  const where = `[auto-api] webhooks: the table of the resource \`${name}\``
  const hint = `Make the table with \`${preset}Table()\` of \`nuxt-auto-api/schema/…\`, or spread \`${preset}Columns()\` into it.`
  const list = (names: readonly string[]) => names.map(column => `\`${column}\``).join(', ')
  const missing = Object.keys(columns).filter(column => !fields.has(column))
  if (missing.length > 0) throw new Error(`${where} has no column ${list(missing)}. ${hint}`)
  if (primaryKey.join() !== 'id') throw new Error(`${where} does not have the primary key \`id\`. ${hint}`)
  if (deletedAt !== undefined) throw new Error(`${where} has a trash. Remove the column \`${deletedAt}\`: a deleted webhook sends nothing.`)
  const visible = Object.keys(columns).filter(column => columns[column] === 'hidden' && !fields.get(column)!.hidden)
  if (visible.length > 0) throw new Error(`${where} shows the columns ${list(visible)}, which only the server reads. ${hint}`)
}
