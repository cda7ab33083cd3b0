/** Reads a page of the feed: a constant number of statements, and one for each resource whose records a rule in code judges. */
import { sql } from 'drizzle-orm'
import type { ActivityEntry } from '../../../shared/types/audit'
import { contextFor, decide } from '../../core/access/authorize'
import { select } from '../../core/access/fields'
import { applyScope, type Scoped } from '../../core/access/row-scope'
import { forResource, requireSession, type Call, type Session } from '../../core/context'
import { refused } from '../../core/error'
import { decoder } from '../../core/execute/rows/decode'
import { toRequestError } from '../../core/execute/rows/invalid-value'
import { readRows } from '../../core/execute/rows/rows'
import { scan } from '../../core/execute/rows/scan'
import { conditions } from '../../core/execute/rows/select'
import { parseList, type Position } from '../../core/parse/list'
import { toOffset } from '../../core/parse/params'
import type { ReadPlan } from '../../core/plan/read-plan'
import { whereClause, type Clause } from '../../core/sql/clause'
import { createCursor, readCursor } from '../../core/sql/cursor'
import { after, type Order } from '../../core/sql/keyset'
import type { AutoApiContext } from '../../registration'
import { onlyVisibleRecords } from '../audit-log/access'
import { resourceOf, type AuditLog } from '../audit-log/log'
import { toListQuery } from '../audit-log/read'
import { ENTRY_SQL } from '../audit-log/sql/index'
import { countUpdates, feedClause } from './heads'
import { readLabels, type Labels } from './labels'
import { PERMISSION } from './open'
import type { ActivityFeedOptions } from './options'

/** The largest total. */
const MAX_TOTAL = 10_000

const COLUMNS: ReadonlySet<string> = new Set(['id', 'at', 'kind', 'resource', 'recordId', 'userId'])

const VERBS: Readonly<Record<string, string>> = { create: 'created', update: 'updated', delete: 'deleted', restore: 'restored' }

interface FoundEntry {
  readonly id: string
  readonly at: Date
  readonly kind: string
  readonly resource: string
  readonly recordId: string
  readonly userId: string | null
}

/** `GET /activity`. @throws 401 and 403 without the permission `activity:read`, 400 for another parameter. */
export async function readFeed(log: AuditLog, options: ActivityFeedOptions, ctx: AutoApiContext): Promise<unknown> {
  const session = requireSession(ctx)
  const resource = resourceOf(session.api, log)
  if (!await decide(session, PERMISSION, ctx)) throw refused(ctx)
  onlyVisibleRecords(session, log)
  const call = forResource(session, resource, contextFor(session, resource, 'read'))
  const { position, limit, count } = parseList({ query: toListQuery(ctx.query, []) }, call)
  const order: readonly Order[] = [{ field: resource.fields.get('id')!, descending: true }]
  const start = startOf(position, order, call)
  const plan = await applyScope<ReadPlan>(call, {
    resource,
    trash: 'active',
    selection: select(resource, ({ name }) => COLUMNS.has(name)),
    where: [await feedClause(session, log)],
    order,
    count: false,
    include: [],
  })
  try {
    const hasTotal = position.mode === 'offset' && count
    const offset = position.mode === 'offset' ? toOffset(position.page, limit) : 0
    const { unplanned: toLimit } = ENTRY_SQL[call.engine.dialect]
    const { columns, rows } = await readRows(plan, { start, offset, limit: limit + 1, toLimit, cursor: true }, call)
    const entries = rows.slice(0, limit).map(decoder(columns)) as unknown as FoundEntry[]
    const hasMore = rows.length > limit
    const meta = position.mode === 'cursor'
      ? { limit, hasMore, nextCursor: hasMore ? createCursor(resource, order, [entries.at(-1)!.id]) : null }
      : { page: position.page, limit, ...hasTotal ? await countEntries(plan, call) : { hasMore } }
    return { data: await toActivity(session, log, options, entries), meta }
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
}

function startOf(position: Position, order: readonly Order[], { engine, resource }: Call): readonly Clause[] {
  if (position.mode !== 'cursor' || position.cursor === '') return []
  return [after(engine, order, readCursor(position.cursor, resource, order))]
}

async function countEntries(plan: Scoped<ReadPlan>, call: Call): Promise<{ total: number, totalIsMore?: true }> {
  const total = plan.accepts ? await countAccepted(plan, call) : await countRows(plan, call)
  return total > MAX_TOTAL ? { total: MAX_TOTAL, totalIsMore: true } : { total }
}

/** `select count(*) from (select 1 from audit_log where … limit 10001) as entries` */
async function countRows(plan: Scoped<ReadPlan>, { engine }: Call): Promise<number> {
  const found = sql`select 1 from ${plan.resource.table}${whereClause(conditions(plan))} limit ${sql.raw(String(MAX_TOTAL + 1))}`
  return Number((await engine.query(engine.render(sql`select count(*) from (${found}) as entries`)))[0]![0])
}

async function countAccepted(plan: Scoped<ReadPlan>, call: Call): Promise<number> {
  let total = 0
  for await (const _ of scan(plan, { maxScanned: call.api.config.objectLevelMaxRows }, call)) if (++total > MAX_TOTAL) break
  return total
}

async function toActivity(
  session: Session, log: AuditLog, { actor, labels = {} }: ActivityFeedOptions, entries: readonly FoundEntry[],
): Promise<readonly ActivityEntry[]> {
  const named = [...new Set(entries.map(({ resource }) => resource))].filter(resource => Object.hasOwn(labels, resource))
  const unique = (ids: readonly (string | null)[]) => [...new Set(ids.filter(id => id !== null))]
  const requests = [
    { resource: actor.resource, field: actor.label, ids: unique(entries.map(({ userId }) => userId)) },
    ...named.map(resource => ({
      resource, field: labels[resource]!, ids: unique(entries.filter(entry => entry.resource === resource).map(({ recordId }) => recordId)),
    })),
  ]
  const counts = await countUpdates(session, log, entries.filter(({ kind }) => kind === 'update').map(({ id }) => id))
  const [actors, ...found] = await readLabels(session, log, requests)
  const labelsOf = new Map(named.map((resource, index): [string, Labels] => [resource, found[index]!]))
  return entries.map(({ id, at, kind, resource, recordId, userId }) => ({
    id,
    at: at.toISOString(),
    actor: userId !== null && actors!.has(userId) ? { id: userId, label: actors!.get(userId)! } : null,
    verb: VERBS[kind] ?? kind,
    resource,
    recordId,
    label: labelsOf.get(resource)?.get(recordId) ?? null,
    count: counts.get(id) ?? 1,
  }))
}
