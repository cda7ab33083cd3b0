/** Writes one delivery for each changed row and each webhook that receives it, in the commit of the change. */
import { sql, type SQL } from 'drizzle-orm'
import { type AutoApiContext, requireSession } from '../../../server/kit/call'
import { type ChangedRows, type CommitParticipant, type CommitStatement, REPORTED } from '../../../server/kit/listen'
import type { Engine } from '../../../server/kit/rows'
import type { PluginTable } from '../../../server/plugin/table'
import { eventOf, receives } from './events'
import { deliveryColumns, webhookColumns, type WebhookRow } from './rows'
import type { Tables } from './tables'

/** The key under which a request remembers that its commit has deliveries. */
const DUE = 'webhooks:due'

/** Whether a commit of the request has deliveries that were not announced yet. */
export function takeDue(ctx: AutoApiContext): boolean {
  return requireSession(ctx).memo.delete(DUE)
}

export function createOutbox({ webhooks, deliveries, names }: Tables): CommitParticipant {
  return async (changes, ctx) => {
    const own = changes.filter(({ resource }) => resource !== undefined && !names.has(resource))
    if (own.length === 0) return []
    const { api, engine, memo } = requireSession(ctx)
    const isOfCaller = own.every(({ resource }) => api.resources.get(resource!)?.tenant)
    const found = await findActive(webhooks.access, webhooks.table, ctx, isOfCaller)
    const statements = own.flatMap(rows => deliveriesOf(rows, found, deliveries.table, engine))
    if (statements.length > 0) memo.set(DUE, true)
    return statements
  }
}

/** @param isOfCaller whether the changed rows have a tenant, which is then that of the caller */
function findActive(
  access: PluginTable, table: Tables['webhooks']['table'], ctx: AutoApiContext, isOfCaller: boolean,
): Promise<readonly WebhookRow[]> {
  const { active } = webhookColumns(table)
  const isActive = sql`where ${active} = ${sql.param(true, active)}`
  const { tenant } = ctx
  const isLimited = isOfCaller && tenant?.id !== undefined && tenant.canAccessAllTenants !== true && !(REPORTED in ctx)
  const rest = isLimited
    ? sql`${isActive} and ${access.matches(table, 'organizationId', tenant.id === null ? null : String(tenant.id))}`
    : isActive
  return access.select<WebhookRow>(ctx.event, rest)
}

function deliveriesOf(
  rows: ChangedRows, webhooks: readonly WebhookRow[], table: Tables['deliveries']['table'], engine: Engine,
): CommitStatement[] {
  const { resource = '', kind } = rows
  const event = eventOf(resource, kind)
  const now = new Date()
  // A created row can be gone when it is delivered. Of every other row, the owner has seen how it was before.
  const image = kind === 'create' || kind === 'link' ? rows.after : rows.before
  const position = nextPosition(engine, table)
  return webhooks.filter(({ events }) => receives(events, resource, event)).map(({ id, owner, organizationId }) =>
    rows.insertInto(table, {
      id: rows.uuid, webhookId: id, event, resource, recordId: rows.id, status: 'pending', attempts: 0, createdAt: now, dueAt: now,
      owner, organizationId, columns: rows.columns, image, ...position && { position },
    } as never, { wholeBefore: true }))
}

/**
 * The order of the changes of a record: a commit holds the lock of the row that it changes when it inserts the delivery. SQLite has one
 * writer and no sequences. Other databases count by themselves.
 */
export function nextPosition({ dialect }: Engine, table: Tables['deliveries']['table']): SQL | undefined {
  if (dialect !== 'sqlite') return undefined
  const { position } = deliveryColumns(table)
  return sql`(select coalesce(max(${position}), 0) + 1 from ${table})`
}
