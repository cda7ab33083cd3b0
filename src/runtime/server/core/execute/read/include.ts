/** Hangs related records on records: what was read along with them, and otherwise one statement per relation, whatever the number of parents. */
import { sql, type SQL } from 'drizzle-orm'
import type { Row, Statement } from '../../../engines/engine'
import { orderShape, shape } from '../../sql/shape'
import type { Field } from '../../../schema/field'
import type { Relation } from '../../../schema/model'
import type { Call } from '../../context'
import { limitExceeded } from '../../error'
import { allFields, type Selection } from '../../access/fields'
import { orderList } from '../../sql/keyset'
import type { ReadPlan } from '../../plan/read-plan'
import { joinAnd, inTuples, fromClauses, shapeOf, statement, valuesOf, whereClause, type Clause, type NamedColumn } from '../../sql/clause'
import type { Scoped } from '../../access/row-scope'
import { joinCondition } from '../rows/junction'
import { includedColumns, joinedRow, type Join, type ScopedInclude } from '../rows/join'
import { filterAccepted, yieldToEventLoop, tooManyRowsToCheck } from '../rows/object-level'
import { searchInSlices } from '../rows/text-search'
import { conditions, decoder, valuesAt, type ValueForm, type RecordValues, type Rows } from '../rows/rows'

/** What all includes of one response share: the records left to them, the rows that may still be judged, and what values become. */
interface Budget {
  left: number
  readonly max: number
  unjudged: number
  readonly maxJudged: number
  readonly form: ValueForm
}

/**
 * @throws `LIMIT_EXCEEDED` before the response holds more included records than configured. A record that stands under several
 * parents is counted under each of them, as JSON repeats it.
 */
export async function attachIncludes(
  plan: Scoped<ReadPlan>,
  found: Rows,
  records: readonly RecordValues[],
  form: ValueForm,
  call: Call,
): Promise<void> {
  if (plan.include.length === 0) return
  const {
    relations: { maxRows },
    objectLevelMaxRows,
  } = call.api.config
  const judged = Math.max(maxRows, objectLevelMaxRows)
  const budget: Budget = { left: maxRows, max: maxRows, unjudged: judged, maxJudged: judged, form }
  await attachLevel(plan, found, { records, times: records.map(() => 1) }, call, budget)
}

/** The records of one level, one for each row, and how many times each of them stands in the response. */
interface Level {
  readonly records: readonly RecordValues[]
  readonly times: readonly number[]
}

async function attachLevel(plan: Scoped<ReadPlan>, found: Rows, level: Level, call: Call, budget: Budget): Promise<void> {
  for (const include of plan.include) {
    const join = found.joins?.find(join => join.include === include)
    if (join) attachJoined(join, found, level, budget)
    else await attach(include, found, level, call, budget)
  }
}

/** A database may take two spellings of a key for one; on the wire they are two, and nobody has the other one. */
function attachJoined(join: Join, { columns, rows }: Rows, { records, times }: Level, budget: Budget): void {
  const { relation, plan } = join.include
  const keyOf = keyAt(columns, relation.columns)
  const ownKeyOf = keyAt(join.columns, relation.foreignColumns)
  const decode = decoder(join.columns, plan.selection, budget.form)
  const known = new Map<string, RecordValues>()
  rows.forEach((row, index) => {
    const key = keyOf(row)
    let related = key === undefined ? undefined : known.get(key)
    if (!related && key !== undefined) {
      const own = joinedRow(join, row)
      if (ownKeyOf(own) === key) known.set(key, related = decode(own))
    }
    if (related) spend(budget, times[index]!)
    records[index]![relation.name] = related ?? null
  })
}

/** @throws `LIMIT_EXCEEDED` */
function spend(budget: Budget, records: number): void {
  if (records > budget.left) throw tooMany(budget)
  budget.left -= records
}

const tooMany = ({ max }: Budget) =>
  limitExceeded(`The response would hold more than ${max} included records. Ask for fewer, or set limits in \`include\`.`, 'include')

async function attach(include: ScopedInclude, found: Rows, { records, times }: Level, call: Call, budget: Budget): Promise<void> {
  const { relation, plan } = include
  const keys = found.rows.map(keyAt(found.columns, relation.columns))
  const parents = parentsOf(found.rows, keys, times, valuesAt(found.columns, relation.columns))
  const children = parents.size === 0 ? undefined : await readChildren(include, parents, call, budget)
  if (children) await attachLevel(plan, children, children, call, budget)
  const many = relation.kind !== 'one'
  records.forEach((record, index) => {
    const own = keys[index] === undefined ? undefined : children?.byParent.get(keys[index])
    record[relation.name] = many ? own ?? [] : own?.[0] ?? null
  })
}

interface Parent {
  /** The values that its children hold of it. */
  readonly values: readonly unknown[]
  /** How many times records with these values stand in the response. */
  times: number
}

type Parents = ReadonlyMap<string, Parent>
type ValuesOf = (row: Row) => readonly unknown[]

function parentsOf(rows: readonly Row[], keys: readonly (string | undefined)[], times: readonly number[], valuesOf: ValuesOf): Parents {
  const parents = new Map<string, Parent>()
  keys.forEach((key, index) => {
    if (key === undefined) return
    const known = parents.get(key)
    if (known) known.times += times[index]!
    else parents.set(key, { values: valuesOf(rows[index]!), times: times[index]! })
  })
  return parents
}

/** The key that some columns of a row hold, as text; NULL meets nothing. */
function keyAt(columns: Selection, wanted: readonly Field[]): (row: Row) => string | undefined {
  const places = wanted.map(field => columns.fields.indexOf(field))
  return row => keyIn(row, places)
}

function keyIn(row: Row, places: readonly number[]): string | undefined {
  if (places.length === 1) return isNone(row[places[0]!]) ? undefined : String(row[places[0]!])
  return places.some(place => isNone(row[place])) ? undefined : JSON.stringify(places.map(place => String(row[place])))
}

const isNone = (value: unknown) => value === null || value === undefined

interface Children extends Rows, Level {
  readonly byParent: ReadonlyMap<string, RecordValues[]>
}

/** The visible children of all parents, at most so many of each, in their order. */
async function readChildren(asked: ScopedInclude, parents: Parents, call: Call, budget: Budget): Promise<Children> {
  const include = await searched(asked, [...parents.values()].map(parent => parent.values), call)
  const { relation, plan, perParent = 1 } = include
  const columns = columnsOf(include)
  const visible = await readVisible(include, columns, parents, call, budget)
  const byParent = new Map<string, RecordValues[]>()
  const decode = decoder(columns, plan.selection, budget.form)
  const parentOf = parentKey(relation, columns)
  const kept: Row[] = []
  const records: RecordValues[] = []
  const times: number[] = []
  for (const row of visible) {
    const key = parentOf(row)!
    const parent = parents.get(key)
    // A database may take two spellings of a key for one.
    if (!parent) continue
    let list = byParent.get(key)
    if (!list) byParent.set(key, list = [])
    if (list.length >= perParent) continue
    spend(budget, parent.times)
    const record = decode(row)
    list.push(record)
    kept.push(row)
    records.push(record)
    times.push(parent.times)
  }
  return { columns, rows: kept, records, times, byParent }
}

/** One row more than may be shown is read, or than may be judged, where code has the last word. @throws `LIMIT_EXCEEDED` */
async function readVisible(
  include: ScopedInclude,
  columns: Selection,
  parents: Parents,
  call: Call,
  budget: Budget,
): Promise<Rows['rows']> {
  const { relation, plan, through, perParent } = include
  const values = [...parents.values()].map(parent => parent.values)
  const read = (limited: number | undefined, most: number) =>
    call.engine.query(childrenStatement(include, columns, values, limited, most + 1, call))
  if (!plan.accepts && !through?.accepts) {
    // Each child stands in the response as often as its parent.
    const most = Math.floor(budget.left / fewestTimes(parents))
    const rows = await read(perParent, most)
    if (rows.length > most) throw tooMany(budget)
    return rows
  }
  // Judged before the limit of a parent is applied: hidden rows take no place.
  const rows = await read(undefined, budget.unjudged)
  if (rows.length > budget.unjudged) throw tooManyRowsToCheck(budget.maxJudged, 'Ask for fewer records, or narrow the filter.', 'include')
  budget.unjudged -= rows.length
  const from = columns.fields.length + relation.columns.length
  const decodeLink = through?.accepts && decoder(allFields(through.resource))
  const linked = decodeLink ? await filterAccepted(rows, row => decodeLink(row.slice(from)), through.accepts!) : rows
  return plan.accepts ? filterAccepted(linked, decoder(columns), plan.accepts) : linked
}

function fewestTimes(parents: Parents): number {
  let fewest = Infinity
  for (const { times } of parents.values()) if (times < fewest) fewest = times
  return fewest
}

/** Where a search in text keeps the event loop busy, others have their turn before it, and it is made in slices. */
async function searched(include: ScopedInclude, parents: readonly (readonly unknown[])[], call: Call): Promise<ScopedInclude> {
  const { relation, plan } = include
  if (!plan.search || !call.engine.blocking) return include
  await yieldToEventLoop()
  const own = relation.kind === 'many' ? [inTuples(call.engine, relation.foreignColumns, parents)] : []
  return { ...include, plan: await searchInSlices(plan, call, own) }
}

function columnsOf(include: ScopedInclude): Selection {
  return include.plan.accepts ? allFields(include.plan.resource) : includedColumns(include)
}

/** The columns in which a child carries its parent's key: its own, or, over a junction, those selected behind them. */
function parentKey(relation: Relation, columns: Selection): (row: Row) => string | undefined {
  if (relation.kind !== 'manyToMany') return keyAt(columns, relation.foreignColumns)
  const places = relation.columns.map((_, index) => columns.fields.length + index)
  return row => keyIn(row, places)
}

/**
 * To-one: `select … from author where id in (…)`.
 * To-many: `select c0, … from (select id as c0, …, row_number() over (partition by post_id order by id) as n
 * from comments where post_id in (…) and …) as rows where n <= ? order by n limit ?`.
 */
function childrenStatement(
  include: ScopedInclude,
  columns: Selection,
  parents: readonly (readonly unknown[])[],
  perParent: number | undefined,
  most: number,
  { api, engine }: Call,
): Statement {
  const { relation, plan, through } = include
  const source = sourceOf(relation, through)
  const where: readonly Clause[] = [inTuples(engine, source.parent, parents), ...conditions(plan), ...source.conditions]
  const many = relation.kind !== 'one'
  const judgesLinks = through?.accepts !== undefined
  const key = shape`include ${relation}${columns.key}${judgesLinks}${shapeOf(where)}${orderShape(plan.order)}${perParent !== undefined}`
  const values = [...valuesOf(where), ...(perParent === undefined ? [] : [perParent]), most]
  return statement(api.statements, engine, key, values, () => {
    const selected = [...columns.fields.map(field => field.selection), ...source.extra]
    const order = many ? sql` order by ${orderList(plan.order)}` : sql``
    if (perParent === undefined)
      return {
        extra: undefined,
        sql: sql`select ${sql.join(selected, sql`, `)} from ${source.from}${whereClause(where)}${order} limit ${sql.param(most)}`,
      }
    const named = selected.map((column, index) => sql`${column} as ${sql.identifier(`c${index}`)}`)
    const names = selected.map((_, index) => sql`${sql.identifier(`c${index}`)}`)
    const partition = sql.join(
      source.parent.map(({ column, bytes }) => (bytes ? bytes.of(sql`${column}`) : sql`${column}`)),
      sql`, `,
    )
    const ranked = sql`select ${sql.join(named, sql`, `)}, row_number() over (partition by ${partition}${order}) as ${sql.identifier('n')} from ${source.from}${whereClause(where)}`
    return {
      extra: undefined,
      sql: sql`select ${sql.join(names, sql`, `)} from (${ranked}) as ${sql.identifier('ranked')} where ${sql.identifier('n')} <= ${sql.param(perParent)} order by ${sql.identifier('n')} limit ${sql.param(most)}`,
    }
  })
}

/** Where the children stand, and which columns name their parent. */
function sourceOf(
  relation: Relation,
  through: ScopedInclude['through'],
): { from: SQL, parent: readonly NamedColumn[], extra: readonly SQL[], conditions: readonly Clause[] } {
  const { table } = relation.target
  if (relation.kind !== 'manyToMany') return { from: sql`${table}`, parent: relation.foreignColumns, extra: [], conditions: [] }
  const { junction } = relation
  const columns = (names: readonly string[]) => names.map(name => junction.resource.fields.get(name)!)
  const parent = columns(junction.here.columns)
  return {
    from: sql`${junction.resource.table} inner join ${table} on ${joinCondition(columns(junction.there.columns), relation.foreignColumns)}`,
    parent,
    extra: [
      ...parent.map(({ column }) => sql`${column}`),
      ...(through?.accepts ? allFields(through.resource).fields.map(field => field.selection) : []),
    ],
    // Told apart from conditions on the records: a tenant column may have the same name on both.
    conditions: through && through.scope.length > 0 ? [fromClauses(shape`through`, through.scope, () => joinAnd(through.scope))] : [],
  }
}
