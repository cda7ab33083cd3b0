/**
 * Searches text in slices. With a synchronous driver, a search for several patterns in large texts would block every other request.
 * So the search splits the table into slices of limited size, finds the keys of matching rows in each slice, and then reads the rows by
 * their keys.
 */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Call } from '../../request/session'
import { after, orderList } from '../../sql/keyset'
import type { Search, ScopedRelationFilter } from '../../access/plan'
import { inTuples } from '../../sql/list/index'
import { ownConditions, withConditions, withRelated, type Plan, type Scoped } from '../../access/row-scope'
import { yieldToEventLoop } from '../../process/turns'
import { whereClause } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { commaList, joined, value, where, type Where } from '../../sql/where'

/** The number of text bytes that one statement searches. */
const SLICE_BYTES = 512 * 1024
/** The number of rows whose text size one statement reads. */
const SIZES_AT_ONCE = 500
/** If more rows match, the search runs in one statement without slices, because that statement finds many matches quickly. */
const MAX_KEYS = 20_000

interface SearchPlan extends Plan {
  readonly where: readonly Where[]
  readonly search?: Search
}

/** If the search is expensive, returns a plan that finds the same rows by their keys. Otherwise returns the plan unchanged. */
export async function searchInSlices<P extends SearchPlan>(
  requested: Scoped<P>, call: Call, extraConditions: readonly Where[] = [],
): Promise<Scoped<P>> {
  const { search, related, resource: { primaryKey } } = requested
  if (!search?.heavy || !call.engine.blocking) return requested
  const plan = related ? withRelated(requested, await searchRelated(related.filters, call), call) : requested
  if (search.fields.length === 0 || !primaryKey.every(isInlineKey)) return plan
  const keys = await findKeys(plan, search.fields, extraConditions, call)
  return keys ? withConditions(plan, [inTuples(call.engine, primaryKey, keys), ...plan.related?.clauses ?? []]) : plan
}

/** Searches the tables of relation filters one after another. */
async function searchRelated(filters: readonly ScopedRelationFilter[], call: Call): Promise<readonly ScopedRelationFilter[]> {
  const searched: ScopedRelationFilter[] = []
  for (const filter of filters) {
    if ('branches' in filter) {
      const branches = []
      for (const branch of filter.branches) branches.push({ ...branch, relationFilters: await searchRelated(branch.relationFilters, call) })
      searched.push({ ...filter, branches })
    }
    else searched.push({ ...filter, plan: await searchInSlices(filter.plan, call) })
  }
  return searched
}

/** Each binary key needs its own parameter, so many keys can exceed the engine's limit. */
const isInlineKey = ({ kind, ordered }: Field) => kind !== 'blob' && ordered

async function findKeys(
  plan: Scoped<SearchPlan>,
  fields: readonly Field[],
  extraConditions: readonly Where[],
  call: Call,
): Promise<readonly Row[] | undefined> {
  const { primaryKey } = plan.resource
  const order = primaryKey.map(field => ({ field, descending: false }))
  const keys: Row[] = []
  let start: readonly Where[] = []
  for (;;) {
    const sizes = await call.engine.query(sizesStatement(plan, fields, [...extraConditions, ...plan.scope, ...start], call))
    for (const slice of slices(sizes.map(row => ({ key: row.slice(0, primaryKey.length), bytes: Number(row[primaryKey.length]) })))) {
      keys.push(...(await call.engine.query(keysStatement(plan, [inTuples(call.engine, primaryKey, slice), ...ownConditions(plan)], call))))
      if (keys.length > MAX_KEYS) return undefined
      await yieldToEventLoop()
    }
    if (sizes.length < SIZES_AT_ONCE) return keys
    start = [after(call.engine, order, sizes.at(-1)!.slice(0, primaryKey.length))]
  }
}

function slices(sizes: readonly { key: Row, bytes: number }[]): readonly (readonly Row[])[] {
  const found: Row[][] = []
  let remaining = 0
  for (const { key, bytes } of sizes) {
    remaining -= bytes
    if (remaining < 0 || found.length === 0) {
      found.push([])
      remaining = SLICE_BYTES - bytes
    }
    found.at(-1)!.push(key)
  }
  return found
}

/** `select id, octet_length(title) from t where … order by id limit 500`. The row contains the size, so the database reads no text. */
function sizesStatement({ resource }: Scoped<SearchPlan>, fields: readonly Field[], conditions: readonly Where[], call: Call) {
  const order = resource.primaryKey.map(field => ({ field, descending: false }))
  const size = joined(fields.map(({ column }) => where`coalesce(octet_length(${column}), 0)`), ' + ')
  const rows = where`select ${keyList(resource.primaryKey)}, ${size} from ${resource.table}${whereClause(conditions)}`
  return statement(call, where`${rows} order by ${orderList(order)} limit ${value(SIZES_AT_ONCE)}`)
}

/** `select id from t where id in (…) and …` */
function keysStatement({ resource }: Scoped<SearchPlan>, conditions: readonly Where[], call: Call) {
  return statement(call, where`select ${keyList(resource.primaryKey)} from ${resource.table}${whereClause(conditions)}`)
}

const keyList = (fields: readonly Field[]) => commaList(fields.map(({ selection }) => selection))

/** Runs statements concurrently. When a text search blocks the event loop, runs them in sequence and yields between them. */
export async function runStatements<A, B, C>(
  plan: { readonly search?: Search },
  { engine }: Call,
  first: () => A,
  second: () => B,
  third: () => C,
): Promise<[Awaited<A>, Awaited<B>, Awaited<C>]> {
  if (!plan.search || !engine.blocking) return Promise.all([first(), second(), third()])
  const one = await first()
  await yieldToEventLoop()
  const two = await second()
  await yieldToEventLoop()
  return [one, two, await third()]
}
