/** Writes the entries: one for each changed row, in the commit of the change. */
import type { ChangedRows, CommitStatement } from '../../../server/kit/listen'
import { type Api, type AutoApiContext, requireSession } from '../../../server/kit/call'
import { findLinkOwner, linkKind } from './links'
import type { AuditLog } from './log'

/** The values that all entries of a commit share. */
export interface EntryContext {
  readonly at: Date
  readonly userId: string | null
  readonly tokenId: string | null
  readonly via: string
  readonly requestId: string | null
  readonly ip: string | null
}

/** The keys that other plugins add to the context. */
interface Extended {
  readonly via?: unknown
  readonly metadata?: { readonly requestId?: unknown, readonly ip?: unknown }
}

export function entryContext(ctx: AutoApiContext): EntryContext {
  const { via, metadata, credential } = ctx as AutoApiContext & Extended
  const caller = ctx.user === null ? ctx.event === undefined ? 'system' : 'anonymous' : credential ? 'token' : 'session'
  return {
    at: new Date(),
    userId: toText(ctx.user?.id),
    tokenId: toText(credential?.id),
    via: toText(via) ?? caller,
    requestId: toText(metadata?.requestId),
    ip: toText(metadata?.ip),
  }
}

const toText = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : null

/** The tenant of a change in a table without tenants. The change of a caller of all tenants belongs to none of them. */
export const callerTenant = ({ tenant }: AutoApiContext) => tenant?.canAccessAllTenants === true ? null : toText(tenant?.id)

export function entriesFor(log: AuditLog, changes: readonly ChangedRows[], ctx: AutoApiContext): CommitStatement[] {
  const { api } = requireSession(ctx)
  const shared = entryContext(ctx)
  return changes.flatMap(rows => (rows.resource === undefined ? linkEntry : rowEntry)(log, rows, shared, api, ctx))
}

function rowEntry(log: AuditLog, rows: ChangedRows, shared: EntryContext, { resources }: Api, ctx: AutoApiContext): CommitStatement[] {
  const { resource, kind } = rows
  if (!log.records(resource!)) return []
  return [rows.insertInto(log.table, {
    ...shared,
    id: rows.uuid,
    kind,
    resource,
    recordId: rows.id,
    rootId: rows.cascaded ? rootOf(ctx) : null,
    tenantId: resources.get(resource!)!.tenant ? rows.tenant : callerTenant(ctx),
    columns: rows.columns,
    before: rows.before,
    after: rows.after,
    reason: reasonOf(rows, ctx),
  } as never, { withoutValues: log.withoutValues(resource!) })]
}

/** A link over a junction that is not registered. Its record is the one whose relation the request changes. */
function linkEntry(log: AuditLog, rows: ChangedRows, shared: EntryContext, api: Api, ctx: AutoApiContext): CommitStatement[] {
  const owner = findLinkOwner(api, rows, ctx)
  const kind = owner && linkKind(rows, owner)
  if (!kind || !log.records(owner.resource)) return []
  return [rows.insertInto(log.table, {
    ...shared,
    id: rows.uuid,
    kind,
    resource: owner.resource,
    recordId: owner.foreignKey ? rows.foreignId(owner.foreignKey) : null,
    otherId: owner.otherKey ? rows.foreignId(owner.otherKey) : null,
    rootId: rows.cascaded ? rootOf(ctx) : null,
    tenantId: owner.hasTenant ? rows.tenant : callerTenant(ctx),
    columns: [owner.relation],
    before: null,
    after: null,
    reason: reasonOf(rows, ctx),
  } as never)]
}

const CASCADING: ReadonlySet<string> = new Set(['delete', 'purge', 'restore'])

/** The record that the request names, if it names one. */
const rootOf = ({ operation, params }: AutoApiContext) => CASCADING.has(operation) ? params.id ?? null : null

const MAX_REASON = 10_000

/** The reason of a delete, as the request contains it. */
function reasonOf({ kind }: ChangedRows, { operation, query: { reason } }: AutoApiContext): string | null {
  const isDelete = (kind === 'delete' || kind === 'purge' || kind === 'unlink') && (operation === 'delete' || operation === 'purge')
  return isDelete && typeof reason === 'string' && reason !== '' ? reason.replaceAll('\0', '').slice(0, MAX_REASON) : null
}
