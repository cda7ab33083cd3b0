/** What the owner of a webhook can read now, and could read before a change. */
import { callFor, isAuthorized, readableFields, type Api, type Session } from '../../../server/kit/call'
import { openSessionAs } from '../../../server/kit/api'
import { findRecords } from '../../../server/kit/records'
import { type RecordValues, type Resource, resolveReadable } from '../../../server/kit/rows'
import { bareEvent } from '../../../server/plugin/bare-event'
import { findOwner, type FindUser } from '../../../server/plugin/owner'
import { INVALID } from '../../../shared/wire'
import type { DeliveryRow, WebhookRow } from './rows'

/** What the owner receives of an event. */
export type Content
  /** The record, or nothing of it if it is gone and the owner could read it before. */
  = | { readonly kind: 'event', readonly record?: RecordValues }
  /** The owner must not learn of the event. */
    | { readonly kind: 'unseen' }
  /** The owner is gone, or can no longer read the resource. */
    | { readonly kind: 'revoked' }

export interface ReaderOptions {
  readonly api: Api
  readonly findUser: FindUser
  /** The event of the request or of the task, on platforms where the database comes with it. */
  readonly event: unknown
}

/** Opens a session of the owner. Nothing of the request whose commit is delivered belongs to it. */
export async function openOwnerSession(
  { owner, organizationId }: Pick<WebhookRow, 'owner' | 'organizationId'>, { api, findUser, event }: ReaderOptions,
): Promise<Session | undefined> {
  const own = bareEvent(event)
  const caller = await findOwner({ userId: owner, organizationId }, { findUser, config: api.config, event: own, plugin: 'webhooks' })
  if (!caller) return undefined
  const base = { api, engine: api.database.engine(event), ctx: { event: own, db: api.database.get(event) } }
  return openSessionAs(base, caller)
}

/** @throws The errors of the app's rules and of the database. The delivery is then attempted again. */
export async function readContent(delivery: DeliveryRow, session: Session | undefined): Promise<Content> {
  const resource = session?.api.resources.get(delivery.resource ?? '')
  if (!session || !resource || delivery.recordId === null) return { kind: 'revoked' }
  if (!await isAuthorized(session, resource, 'read')) return { kind: 'revoked' }
  // After the first attempt, neither is stored: the owner was found to have seen the change.
  const isKnown = delivery.columns === null
  if (!isKnown && !await sawChange(delivery, session, resource)) return { kind: 'unseen' }
  const record = (await findRecords(callFor(session, resource, 'read'), [delivery.recordId])).get(delivery.recordId)
  if (record) return { kind: 'event', record }
  return isKnown || await sawRow(delivery, session, resource) ? { kind: 'event' } : { kind: 'unseen' }
}

/** Whether the changed row belongs to another organization than the webhook. After the first attempt, it is known that it does not. */
export function isForeign({ resource: name, columns, image, organizationId }: DeliveryRow, api: Api): boolean {
  if (columns === null) return false
  const resource = api.resources.get(name ?? '')
  if (!resource || image === null) return true
  const tenant = resource.tenant ? image[resource.tenant.name] ?? null : organizationId
  return tenant === null ? organizationId !== null : String(tenant) !== organizationId
}

/** Whether one of the changed columns is one that the owner can read. Computed fields can change with any column. */
async function sawChange({ event, columns }: DeliveryRow, session: Session, resource: Resource): Promise<boolean> {
  if (!event.endsWith('.updated')) return true
  const { byName } = await readableFields(callFor(session, resource, 'read'), resource)
  return columns!.some(name => byName.has(name)) || [...byName.values()].some(({ stored }) => !stored)
}

/** The events of rows that are in the trash before the change. */
const FROM_TRASH = /\.(?:restored|purged)$/

/** Whether the owner could read the row as it was. The tenant and the rules of rows decide, as for a list. */
async function sawRow({ image, event }: DeliveryRow, session: Session, resource: Resource): Promise<boolean> {
  if (image === null) return false
  const row = toRow(image, resource)
  // Before it was restored or purged, the row was in the trash, and before that, it was active.
  if (FROM_TRASH.test(event) && resource.roles.deletedAt) row[resource.roles.deletedAt.name] = null
  const { find } = await resolveReadable(callFor(session, resource, 'read'))
  const { before } = await find({ ids: [], rows: [row], earlier: () => ({ ids: [], rows: [] }) })
  return before.size > 0
}

function toRow(image: Readonly<Record<string, unknown>>, { fields }: Resource): Record<string, unknown> {
  const stored = [...fields.values()].filter(({ stored }) => stored)
  return Object.fromEntries(stored.map(({ name, fromJson }) => {
    const value = image[name]
    const converted = value === null || value === undefined ? null : fromJson(value)
    return [name, converted === INVALID ? null : converted]
  }))
}
