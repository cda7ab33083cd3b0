/** Hangs related records on records: what was read along with them, and otherwise one statement per relation, whatever the number of parents. */
import { sql, type SQL } from 'drizzle-orm'
import type { Row, Statement } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Relation } from '../../schema/model'
import type { Call } from '../context'
import { limitExceeded } from '../error'
import { allFields, type Selection } from '../fields'
import { orderKey, orderList } from '../plan/order'
import type { ReadPlan } from '../plan/tree'
import { all, among, fromClauses, shapeOf, statement, valuesOf, whereAll, type Clause, type NamedColumn } from '../query'
import type { Scoped } from '../scope'
import { meets } from './links'
import { includedColumns, joinedRow, type Join, type ScopedInclude } from './join'
import { inSlices, others } from './slices'
import { conditions, decoder, valuesAt, type Form, type RecordOf, type Rows } from './rows'

/** What all includes of one answer share: the rows that are left to them, and what their values become. */
interface Budget {
  left: number
  readonly max: number
  readonly form: Form
}

/** @throws `LIMIT_EXCEEDED` when the answer would hold more included rows than configured. */
export async function attachIncludes(plan: Scoped<ReadPlan>, found: Rows, records: readonly RecordOf[], form: Form, call: Call): Promise<void> {
  const { maxRows } = call.api.config.relations
  await attachLevel(plan, found, records, call, { left: maxRows, max: maxRows, form })
}

async function attachLevel(plan: Scoped<ReadPlan>, found: Rows, records: readonly RecordOf[], call: Call, budget: Budget): Promise<void> {
  for (const include of plan.include) {
    const join = found.joins?.find(join => join.include === include)
    if (join) attachJoined(join, found, records, budget)
    else await attach(include, found, records, call, budget)
  }
}

/** A database may take two spellings of a key for one; on the wire they are two, and nobody has the other one. */
function attachJoined(join: Join, { columns, rows }: Rows, records: readonly RecordOf[], budget: Budget): void {
  const { relation, plan } = join.include
  const keyOf = keyAt(columns, relation.columns)
  const ownKeyOf = keyAt(join.columns, relation.foreignColumns)
  const decode = decoder(join.columns, plan.selection, budget.form)
  const known = new Map<string, RecordOf>()
  rows.forEach((row, index) => {
    const key = keyOf(row)
    let related = key === undefined ? undefined : known.get(key)
    if (!related && key !== undefined) {
      const own = joinedRow(join, row)
      if (ownKeyOf(own) === key) known.set(key, related = decode(own))
    }
    records[index]![relation.name] = related ?? null
  })
  spend(budget, known.size)
}

/** @throws `LIMIT_EXCEEDED` */
function spend(budget: Budget, records: number): void {
  if (records > budget.left) throw limitExceeded(`The answer would hold more than ${budget.max} included records. Ask for fewer, or set limits in \`include\`.`, 'include')
  budget.left -= records
}

async function attach(include: ScopedInclude, found: Rows, records: readonly RecordOf[], call: Call, budget: Budget): Promise<void> {
  const { relation, plan } = include
  const parentOf = valuesAt(found.columns, relation.columns)
  const keys = found.rows.map(keyAt(found.columns, relation.columns))
  const distinct = new Map(found.rows.flatMap((row, index) => keys[index] === undefined ? [] : [[keys[index], parentOf(row)]]))
  const children = distinct.size === 0 ? undefined : await readChildren(include, [...distinct.values()], call, budget)
  if (children) await attachLevel(plan, children, children.records, call, budget)
  const many = relation.kind !== 'one'
  records.forEach((record, index) => {
    const own = keys[index] === undefined ? undefined : children?.byParent.get(keys[index])
    record[relation.name] = many ? own ?? [] : own?.[0] ?? null
  })
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

interface Children extends Rows {
  readonly records: readonly RecordOf[]
  readonly byParent: ReadonlyMap<string, RecordOf[]>
}

/** The visible children of all parents, at most so many of each, in their order. */
async function readChildren(asked: ScopedInclude, parents: readonly (readonly unknown[])[], call: Call, budget: Budget): Promise<Children> {
  const include = await searched(asked, parents, call)
  const { relation, plan, through, perParent } = include
  const columns = columnsOf(include)
  // What only code can judge is judged before the limit of a parent is applied: hidden rows take no place.
  const limited = plan.accepts || through?.accepts ? undefined : perParent
  const rows = await call.engine.query(childrenStatement(include, columns, parents, limited, budget.left + 1, call))
  if (rows.length > budget.left) spend(budget, rows.length)
  const linked = through?.accepts ? await judge(rows, decoder(allFields(through.resource)), through.accepts, columns.fields.length + relation.columns.length) : rows
  const visible = plan.accepts ? await judge(linked, decoder(columns), plan.accepts) : linked
  const byParent = new Map<string, RecordOf[]>()
  const decode = decoder(columns, plan.selection, budget.form)
  const parentOf = parentKey(relation, columns)
  const kept: Row[] = []
  const records: RecordOf[] = []
  for (const row of visible) {
    const parent = parentOf(row)!
    let list = byParent.get(parent)
    if (!list) byParent.set(parent, list = [])
    if (perParent !== undefined && list.length >= perParent) continue
    const record = decode(row)
    list.push(record)
    kept.push(row)
    records.push(record)
  }
  spend(budget, kept.length)
  return { columns, rows: kept, records, byParent }
}

/** Where a search in text keeps the event loop busy, others have their turn before it, and it is made in slices. */
async function searched(include: ScopedInclude, parents: readonly (readonly unknown[])[], call: Call): Promise<ScopedInclude> {
  const { relation, plan } = include
  if (!plan.search || !call.engine.blocking) return include
  await others()
  const own = relation.kind === 'many' ? [among(call.engine, relation.foreignColumns, parents)] : []
  return { ...include, plan: await inSlices(plan, call, own) }
}

/** @param from where the judged row begins among the selected columns. */
async function judge(rows: readonly Row[], decode: (row: Row) => RecordOf, accepts: (row: RecordOf) => Promise<boolean>, from = 0): Promise<readonly Row[]> {
  const verdicts = await Promise.all(rows.map(row => accepts(decode(from === 0 ? row : row.slice(from)))))
  return rows.filter((_, index) => verdicts[index])
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
function childrenStatement(include: ScopedInclude, columns: Selection, parents: readonly (readonly unknown[])[], perParent: number | undefined, most: number, { api, engine }: Call): Statement {
  const { relation, plan, through } = include
  const source = sourceOf(relation, through)
  const where: readonly Clause[] = [among(engine, source.parent, parents), ...conditions(plan), ...source.conditions]
  const many = relation.kind !== 'one'
  const path = `${relation.kind === 'manyToMany' ? `${relation.junction.name}:` : ''}${relation.columns.map(({ name }) => name)}=${relation.foreignColumns.map(({ name }) => name)}`
  const shape = `${plan.resource.name}|include|${path}|${columns.key}|${shapeOf(where)}|${orderKey(plan.order)}|${perParent === undefined ? '' : 'n'}`
  const values = [...valuesOf(where), ...perParent === undefined ? [] : [perParent], most]
  return statement(api.statements, engine, shape, values, () => {
    const selected = [...columns.fields.map(field => field.selection), ...source.extra]
    const order = many ? sql` order by ${orderList(plan.order)}` : sql``
    if (perParent === undefined) return { extra: undefined, sql: sql`select ${sql.join(selected, sql`, `)} from ${source.from}${whereAll(where)}${order} limit ${sql.param(most)}` }
    const named = selected.map((column, index) => sql`${column} as ${sql.identifier(`c${index}`)}`)
    const names = selected.map((_, index) => sql`${sql.identifier(`c${index}`)}`)
    const partition = sql.join(source.parent.map(({ column, bytes }) => bytes ? bytes.of(sql`${column}`) : sql`${column}`), sql`, `)
    const ranked = sql`select ${sql.join(named, sql`, `)}, row_number() over (partition by ${partition}${order}) as ${sql.identifier('n')} from ${source.from}${whereAll(where)}`
    return { extra: undefined, sql: sql`select ${sql.join(names, sql`, `)} from (${ranked}) as ${sql.identifier('ranked')} where ${sql.identifier('n')} <= ${sql.param(perParent)} order by ${sql.identifier('n')} limit ${sql.param(most)}` }
  })
}

/** Where the children stand, and which columns name their parent. */
function sourceOf(relation: Relation, through: ScopedInclude['through']): { from: SQL, parent: readonly NamedColumn[], extra: readonly SQL[], conditions: readonly Clause[] } {
  const { table } = relation.target
  if (relation.kind !== 'manyToMany') return { from: sql`${table}`, parent: relation.foreignColumns, extra: [], conditions: [] }
  const { junction } = relation
  const columns = (names: readonly string[]) => names.map(name => junction.resource.fields.get(name)!)
  const parent = columns(junction.here.columns)
  return {
    from: sql`${junction.resource.table} inner join ${table} on ${meets(columns(junction.there.columns), relation.foreignColumns)}`,
    parent,
    extra: [...parent.map(({ column }) => sql`${column}`), ...through?.accepts ? allFields(through.resource).fields.map(field => field.selection) : []],
    // Told apart from conditions on the records: a tenant column may have the same name on both.
    conditions: through && through.scope.length > 0 ? [fromClauses('through', through.scope, () => all(through.scope))] : [],
  }
}
