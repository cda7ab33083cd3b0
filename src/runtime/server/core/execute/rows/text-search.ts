/**
 * Searches in text, piece by piece: where a statement keeps the event loop busy, several patterns over large texts would hold up
 * every other request. The keys of the rows that match are found in slices of so many bytes; the rows are then read by their keys.
 */
import { sql } from 'drizzle-orm'
import type { Row } from '../../../engines/engine'
import { orderShape, shape } from '../../sql/shape'
import type { Field } from '../../../schema/field'
import type { Call } from '../../context'
import { after, orderList } from '../../sql/keyset'
import type { Search } from '../../plan/search'
import { shapeOf, statement, valuesOf, whereClause, type Clause } from '../../sql/clause'
import { inTuples } from '../../sql/list/index'
import { foundBy, type Plan, type Scoped } from '../../access/row-scope'
import { yieldToEventLoop } from './object-level'

/** Bytes of text that one statement looks through. */
const SLICE_BYTES = 512 * 1024
/** Rows whose sizes are read at once. */
const SIZES_AT_ONCE = 500
/** With more rows that match, the statement is run as it is: many matches are found quickly. */
const MAX_KEYS = 20_000

interface SearchPlan extends Plan {
  readonly where: readonly Clause[]
  readonly search?: Search
}

/** The same rows by their keys, where finding them takes long; otherwise the plan as it is. */
export async function searchInSlices<P extends SearchPlan>(plan: Scoped<P>, call: Call, besides: readonly Clause[] = []) {
  const { search, resource: { primaryKey } } = plan
  if (!search?.heavy || !call.engine.blocking || !primaryKey.every(isInlineKey)) return plan
  const keys = await findKeys(plan, search.fields, besides, call)
  return keys ? foundBy(plan, [inTuples(call.engine, primaryKey, keys)]) : plan
}

/** Keys of bytes are a parameter each, and there may be more of them than an engine takes. */
const isInlineKey = ({ kind, ordered }: Field) => kind !== 'blob' && ordered

async function findKeys(
  plan: Scoped<SearchPlan>,
  fields: readonly Field[],
  besides: readonly Clause[],
  call: Call,
): Promise<readonly Row[] | undefined> {
  const { primaryKey } = plan.resource
  const order = primaryKey.map(field => ({ field, descending: false }))
  const keys: Row[] = []
  let start: readonly Clause[] = []
  for (;;) {
    const heads = await call.engine.query(sizesStatement(plan, fields, [...besides, ...plan.scope, ...start], call))
    for (const slice of slices(heads.map(row => ({ key: row.slice(0, primaryKey.length), bytes: Number(row[primaryKey.length]) })))) {
      keys.push(...(await call.engine.query(keysStatement(plan, [inTuples(call.engine, primaryKey, slice), ...plan.where], call))))
      if (keys.length > MAX_KEYS) return undefined
      await yieldToEventLoop()
    }
    if (heads.length < SIZES_AT_ONCE) return keys
    start = [after(call.engine, order, heads.at(-1)!.slice(0, primaryKey.length))]
  }
}

function slices(heads: readonly { key: Row, bytes: number }[]): readonly (readonly Row[])[] {
  const found: Row[][] = []
  let left = 0
  for (const { key, bytes } of heads) {
    left -= bytes
    if (left < 0 || found.length === 0) {
      found.push([])
      left = SLICE_BYTES - bytes
    }
    found.at(-1)!.push(key)
  }
  return found
}

/** `select id, octet_length(title) from t where … order by id limit 500`: the size stands in the row's head, no text is read. */
function sizesStatement({ resource }: Scoped<SearchPlan>, fields: readonly Field[], where: readonly Clause[], { api, engine }: Call) {
  const order = resource.primaryKey.map(field => ({ field, descending: false }))
  const key = shape`sizes ${resource}${fields.map(({ column }) => column)}${shapeOf(where)}${orderShape(order)}`
  return statement(api.statements, engine, key, [...valuesOf(where), SIZES_AT_ONCE], () => {
    const size = sql.join(fields.map(({ column }) => sql`coalesce(octet_length(${column}), 0)`), sql` + `)
    return {
      extra: undefined,
      sql: sql`select ${keyList(resource.primaryKey)}, ${size} from ${resource.table}${whereClause(where)} order by ${orderList(order)} limit ${sql.param(SIZES_AT_ONCE)}`,
    }
  })
}

/** `select id from t where id in (…) and …` */
function keysStatement({ resource }: Scoped<SearchPlan>, where: readonly Clause[], { api, engine }: Call) {
  return statement(api.statements, engine, shape`keys ${resource}${shapeOf(where)}`, valuesOf(where), () => ({
    extra: undefined, sql: sql`select ${keyList(resource.primaryKey)} from ${resource.table}${whereClause(where)}`,
  }))
}

const keyList = (fields: readonly Field[]) => sql.join(fields.map(({ selection }) => selection), sql`, `)

/** Runs statements at once, or, where a search in text keeps the event loop busy, one after another with a pause between them. */
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
