/** The row of a token, and the columns that its table must have. */
import type { PluginResource } from '../../../server/plugin/server'

export interface TokenRow {
  readonly id: string
  readonly name: string
  readonly userId: string
  readonly organizationId: string | null
  readonly scopes: readonly string[] | null
  readonly tokenHash: string
  readonly previousHash: string | null
  readonly previousUntil: Date | null
  readonly expiresAt: Date | null
  readonly lastUsedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly deletedAt?: Date | null
}

/** Whether the column is hidden. */
const COLUMNS: Readonly<Record<Exclude<keyof TokenRow, 'deletedAt'> | 'start', boolean>> = {
  id: false, name: false, userId: false, organizationId: false, scopes: false, start: false, tokenHash: true, previousHash: true,
  previousUntil: true, expiresAt: false, lastUsedAt: false, createdAt: false, updatedAt: false,
}

/** @throws When the table of the resource is not made of the columns of the preset. */
export function assertTokenTable({ name, fields, primaryKey }: PluginResource): void {
  const where = `[auto-api] apiTokens: the table of the resource \`${name}\``
  const hint = 'Make the table with `apiTokensTable()` of `nuxt-auto-api/schema/…`, or spread `apiTokensColumns()` into it.'
  const missing = Object.keys(COLUMNS).filter(column => !fields.has(column))
  if (missing.length > 0) throw new Error(`${where} has no column ${missing.map(column => `\`${column}\``).join(', ')}. ${hint}`)
  if (primaryKey.join() !== 'id') throw new Error(`${where} does not have the primary key \`id\`. ${hint}`)
  const visible = Object.entries(COLUMNS).filter(([column, hidden]) => hidden && !fields.get(column)!.hidden).map(([column]) => column)
  if (visible.length > 0) throw new Error(`${where} shows the secret columns ${visible.map(column => `\`${column}\``).join(', ')}. ${hint}`)
}

/** Which secret of a row a hash belongs to, if the secret is valid now. */
export function secretOf(row: TokenRow, hash: string, now: number): 'current' | 'previous' | undefined {
  if (row.deletedAt || (row.expiresAt && row.expiresAt.getTime() <= now)) return undefined
  if (row.tokenHash === hash) return 'current'
  return row.previousHash === hash && row.previousUntil && row.previousUntil.getTime() > now ? 'previous' : undefined
}
