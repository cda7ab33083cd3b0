/** Reads the rows of a scoped plan, page or scan, with the driver's own values at hand for cursors and includes. */
import { sql, type SQL } from 'drizzle-orm'
import { LIMITS } from '../../../../shared/limits'
import type { Row, Statement } from '../../../engines/engine'
import { orderShape, shape } from '../../sql/shape'
import type { Field } from '../../../schema/field'
import type { Call } from '../../context'
import { allFields, select, type Selection } from '../../access/fields'
import type { Key } from '../../../schema/record-id'
import { after, orderList } from '../../sql/keyset'
import type { ReadPlan } from '../../plan/read-plan'
import { shapeOf, statement, valuesOf, whereClause, type Clause } from '../../sql/clause'
import type { Scoped } from '../../access/row-scope'
import { filterAccepted, yieldToEventLoop, maxScanRows, tooManyRowsToCheck } from './object-level'
import { isInvalidValue } from './invalid-value'
import { joinAll, joinsOf, selectJoined, shapeOfJoins, valuesOfJoins, type Join } from './join'

export type RecordValues = Record<string, unknown>

/** Rows by position, with the place of each field in them. */
export interface Rows {
  readonly rows: readonly Row[]
  readonly columns: Selection
  /** Included rows that stand behind those columns. */
  readonly joins?: readonly Join[]
}

/** The driver's values of some fields in a row. */
export function valuesAt({ fields }: Selection, wanted: readonly Field[]): (row: Row) => readonly unknown[] {
  const places = wanted.map(field => fields.indexOf(field))
  return row => places.map(place => row[place])
}

/** What a plan needs of each row: what it shows, and the columns its includes and its cursor stand on. */
function columnsOf(plan: Scoped<ReadPlan>, cursor: boolean, besides: readonly Field[]): Selection {
  if (plan.accepts) return allFields(plan.resource)
  const keys = plan.include.flatMap(({ relation }) => relation.columns)
  const extra = [...keys, ...besides, ...cursor ? plan.order.map(({ field }) => field) : []]
  return extra.length === 0
    ? plan.selection
    : select(plan.resource, field => plan.selection.byName.has(field.name) || extra.includes(field))
}

export interface Window {
  /** Conditions besides the plan's own: where a cursor stands. */
  readonly start?: readonly Clause[]
  readonly offset?: number
  readonly limit?: number
  /** Whether a cursor will be made of a row. */
  readonly cursor?: boolean
  /** Rows that code judges at most; absent: as many as any scan may. */
  readonly maxScanned?: number
  /** Columns whose values are needed besides what is shown. */
  readonly extraColumns?: readonly Field[]
}

/** The visible rows of a window of the plan. With `objectLevel`, batch by batch until the window is full. */
export async function readRows(plan: Scoped<ReadPlan>, window: Window, call: Call): Promise<Rows> {
  const columns = columnsOf(plan, window.cursor ?? false, window.extraColumns ?? [])
  if (!plan.accepts) {
    const joins = joinsOf(plan, columns)
    return { columns, joins, rows: await call.engine.query(rowsStatement(plan, columns, window, call, joins)) }
  }
  const { offset = 0, limit = Infinity } = window
  const rows: Row[] = []
  let skipped = 0
  for await (const row of scan(plan, window, call)) {
    if (skipped < offset) skipped++
    else rows.push(row)
    if (rows.length >= limit) break
  }
  return { columns, rows }
}

/**
 * The row of a key, if it is visible. A collation may find another spelling of the key; that is another address, and no row has it.
 * @param besides columns whose values are needed besides what is shown.
 */
export async function readOne(plan: Scoped<ReadPlan>, key: Key, besides: readonly Field[], call: Call): Promise<Rows> {
  const { primaryKey } = plan.resource
  const spelled = primaryKey.filter(field => field.kind === 'text' || field.kind === 'custom')
  const found = await readIfFit(plan, { cursor: true, extraColumns: [...besides, ...spelled] }, call)
  const values = valuesAt(found.columns, spelled)
  const same = (row: Row) => values(row).every((value, index) => value === spelled[index]!.encode(key[primaryKey.indexOf(spelled[index]!)]))
  return { ...found, rows: found.rows.filter(same) }
}

/** No row has a key that is none of its column's type. */
async function readIfFit(plan: Scoped<ReadPlan>, window: Window, call: Call): Promise<Rows> {
  try {
    return await readRows(plan, window, call)
  }
  catch (error) {
    if (!await isInvalidValue(error, plan, call)) throw error
    return { columns: columnsOf(plan, window.cursor ?? false, window.extraColumns ?? []), rows: [] }
  }
}

/**
 * Every row that `objectLevel` accepts, in the plan's order or by primary key, read in keyset batches. Other requests get their turn
 * between them.
 * @throws `LIMIT_EXCEEDED` when `most` rows are judged, there are more, and the reader wants another one.
 */
export async function* scan(unordered: Scoped<ReadPlan>, window: Window, call: Call): AsyncGenerator<Row> {
  const { start = [], offset, limit = Infinity, maxScanned = maxScanRows(call) } = window
  const plan = unordered.order.length > 0 ? unordered : { ...unordered, order: byPrimaryKey(unordered) }
  const columns = allFields(plan.resource)
  const decode = decoder(columns)
  const place = valuesAt(columns, plan.order.map(({ field }) => field))
  // A page mostly needs as many rows as it has: the first batch is small, the following ones are not.
  let batch = limit === Infinity ? LIMITS.scanBatch : Math.min((offset ?? 0) + limit, LIMITS.scanBatch)
  let from = start
  for (let left = maxScanned; ;) {
    // One row beyond the bound tells whether there are more.
    const asked = Math.min(batch, left + 1)
    const rows = await call.engine.query(rowsStatement(plan, columns, { start: from, limit: asked }, call))
    yield* await filterAccepted(rows.length > left ? rows.slice(0, left) : rows, decode, plan.accepts!)
    if (rows.length > left) throw tooManyRowsToCheck(maxScanned, ADVICE[window.maxScanned === undefined ? 'page' : 'total'])
    if (rows.length < asked) return
    left -= rows.length
    from = [after(call.engine.dialect, plan.order, place(rows.at(-1)!))]
    batch = LIMITS.scanBatch
    await yieldToEventLoop()
  }
}

const byPrimaryKey = ({ resource }: Scoped<ReadPlan>) => resource.primaryKey.map(field => ({ field, descending: false }))

/** What to do instead of counting, or of paging on. */
const ADVICE = { total: 'Narrow the filter, ask with count=none, or page by cursor.', page: 'Narrow the filter.' }

/** `select c1, c2 from t where … order by … limit ? offset ?` */
export function rowsStatement(
  plan: Scoped<ReadPlan>,
  columns: Selection,
  { start = [], offset, limit }: Window,
  { api, engine }: Call,
  joins: readonly Join[] = [],
): Statement {
  const { resource, order } = plan
  const where = [...conditions(plan), ...start]
  const bounds = limit === undefined || limit === Infinity ? [] : offset ? [limit, offset] : [limit]
  const key = shape`read ${columns.key}${shapeOfJoins(joins)}${shapeOf(where)}${orderShape(order)}${bounds.length}`
  return statement(api.statements, engine, key, [...valuesOfJoins(joins), ...valuesOf(where), ...bounds], () => ({
    sql: sql`select ${selectList(columns)}${selectJoined(joins)} from ${resource.table}${joinAll(joins)}${whereClause(where)}${order.length > 0 ? sql` order by ${orderList(order)}` : sql``}${limitTo(bounds)}`,
    extra: undefined,
  }))
}

function limitTo([limit, offset]: readonly number[]): SQL {
  if (limit === undefined) return sql``
  return offset === undefined ? sql` limit ${sql.param(limit)}` : sql` limit ${sql.param(limit)} offset ${sql.param(offset)}`
}

/** What the plan asks for and what the caller may see, in one WHERE. */
export function conditions(plan: { readonly where: readonly Clause[], readonly scope: readonly Clause[] }): readonly Clause[] {
  return [...plan.where, ...plan.scope]
}

export function selectList(columns: Selection): SQL {
  return sql.join(columns.fields.map(field => field.selection), sql`, `)
}

/** What becomes of a driver's value: the value Drizzle knows, for hooks and rules, or JSON, where no code looks at it. */
export type ValueForm = 'value' | 'wire'

type Decoders = WeakMap<Selection, WeakMap<Selection, (row: Row) => RecordValues>>
const decoders: Readonly<Record<ValueForm, Decoders>> = { value: new WeakMap(), wire: new WeakMap() }

/** Rows by position to records by name; made once per pair of selections. */
export function decoder(columns: Selection, shown: Selection = columns, form: ValueForm = 'value'): (row: Row) => RecordValues {
  let known = decoders[form].get(columns)
  if (!known) decoders[form].set(columns, known = new WeakMap())
  let decode = known.get(shown)
  if (!decode) known.set(shown, decode = createDecoder(columns, shown, form))
  return decode
}

function createDecoder({ fields }: Selection, shown: Selection, form: ValueForm): (row: Row) => RecordValues {
  const cells = shown.fields.map(field => ({
    name: field.name,
    place: fields.indexOf(field),
    convert: form === 'wire' ? field.toWire : field.decode,
  }))
  return (row) => {
    const record: RecordValues = {}
    for (const { name, place, convert } of cells) record[name] = convert ? convert(row[place]) : row[place]
    return record
  }
}
