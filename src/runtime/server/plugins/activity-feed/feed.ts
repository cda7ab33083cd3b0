/** Reads a page of the feed: a constant number of statements, and one for each resource whose records a rule in code judges. */
import type { ActivityEntry } from '../../../shared/types/audit'
import { type AutoApiContext, type Call, callFor, decide, requireSession, select } from '../../kit/call'
import {
  applyScope, conditions, decoder, parseList, type Position, type ReadPlan, readRows, scan, type Scoped, toRequestError,
} from '../../kit/rows'
import { refused } from '../../kit/errors'
import { toOffset } from '../../kit/request'
import { after, createCursor, type Order, readCursor, statement, value, where, type Where, whereClause } from '../../kit/where'
import { onlyVisibleRecords } from '../audit-log/access'
import { resourceOf, type AuditLog } from '../audit-log/log'
import { toListQuery } from '../audit-log/read'
import { ENTRY_SQL } from '../audit-log/sql/index'
import { detailColumns, findSources, fitsPage, readColumns, toDetails, type Details, type FoundEntry } from './details'
import { feedClause } from './heads'
import { PERMISSION } from './open'
import type { ActivityFeedOptions } from './options'

/** The largest total. */
const MAX_TOTAL = 10_000

const COLUMNS: ReadonlySet<string> = new Set(['id', 'at', 'kind', 'resource', 'recordId', 'userId'])

const VERBS: Readonly<Record<string, string>> = { create: 'created', update: 'updated', delete: 'deleted', restore: 'restored' }

/** `GET /activity`. @throws 401 and 403 without the permission `activity:read`, 400 for another parameter. */
export async function readFeed(log: AuditLog, options: ActivityFeedOptions, ctx: AutoApiContext): Promise<unknown> {
  const session = requireSession(ctx)
  const resource = resourceOf(session.api, log)
  if (!await decide(session, PERMISSION, ctx)) throw refused(ctx)
  onlyVisibleRecords(session, log)
  const call = callFor(session, resource, 'read')
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
    const sources = await findSources(session, log, options)
    // One statement instead of two, where the database does not compute the details of the rows that it leaves out.
    const computed = offset === 0 && !plan.accepts && fitsPage(session, sources) ? await detailColumns(session, log, sources) : undefined
    const { columns, rows } = await readRows(plan, { start, offset, limit: limit + 1, toLimit, cursor: true, computed }, call)
    const entries = rows.slice(0, limit).map(decoder(columns, columns, 'wire')) as unknown as FoundEntry[]
    const hasMore = rows.length > limit
    const meta = position.mode === 'cursor'
      ? { limit, hasMore, nextCursor: hasMore ? createCursor(resource, order, [entries.at(-1)!.id]) : null }
      : { page: position.page, limit, ...hasTotal ? await countEntries(plan, call) : { hasMore } }
    const values = computed ? rows.map(row => row.slice(columns.fields.length)) : await readColumns(session, log, sources, entries)
    const details = await toDetails(session, sources, entries, values)
    return { data: entries.map((entry, index) => toActivity(entry, details[index]!)), meta }
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
}

function startOf(position: Position, order: readonly Order[], { engine, resource }: Call): readonly Where[] {
  if (position.mode !== 'cursor' || position.cursor === '') return []
  return [after(engine, order, readCursor(position.cursor, resource, order))]
}

async function countEntries(plan: Scoped<ReadPlan>, call: Call): Promise<{ total: number, totalIsMore?: true }> {
  const total = plan.accepts ? await countAccepted(plan, call) : await countRows(plan, call)
  return total > MAX_TOTAL ? { total: MAX_TOTAL, totalIsMore: true } : { total }
}

/** `select count(*) from (select 1 from audit_log where … limit 10001) as entries` */
async function countRows(plan: Scoped<ReadPlan>, call: Call): Promise<number> {
  const found = where`select 1 from ${plan.resource.table}${whereClause(conditions(plan))} limit ${value(MAX_TOTAL + 1)}`
  return Number((await call.engine.query(statement(call, where`select count(*) from (${found}) as entries`)))[0]![0])
}

async function countAccepted(plan: Scoped<ReadPlan>, call: Call): Promise<number> {
  let total = 0
  for await (const _ of scan(plan, { maxScanned: call.api.config.objectLevelMaxRows }, call)) if (++total > MAX_TOTAL) break
  return total
}

function toActivity({ id, at, kind, resource, recordId, userId }: FoundEntry, { count, label, actor }: Details): ActivityEntry {
  return {
    id,
    at,
    actor: userId !== null && actor !== undefined ? { id: userId, label: actor } : null,
    verb: VERBS[kind] ?? kind,
    resource,
    recordId,
    label: label ?? null,
    count,
  }
}
