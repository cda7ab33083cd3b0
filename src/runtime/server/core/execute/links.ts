/** The links that a junction holds of a record: which there are, and how SQL and code tell the visible ones. */
import { sql, type SQL } from 'drizzle-orm'
import type { Row } from '../../engines/engine'
import { shape } from '../../engines/shape'
import type { Field } from '../../schema/field'
import type { ManyToMany } from '../../schema/model'
import type { Call } from '../context'
import { notFound } from '../error'
import { allFields, select } from '../fields'
import type { Key } from '../parse/key'
import { byKey } from '../plan/read'
import type { ReadPlan } from '../plan/tree'
import { all, among, fromClauses, meet, shapeOf, statement, valuesOf, whereAll, type Clause } from '../query'
import { within, type Plan, type Scoped } from '../scope'
import { judge, scanBound, tooManyToJudge } from './judge'
import { decoder, readOne, selectList, valuesAt } from './rows'

/** @throws 404 when the record is not visible. */
export async function parentValues(plan: Scoped<Plan>, key: Key, columns: readonly Field[], call: Call): Promise<readonly unknown[]> {
  const selection = select(plan.resource, field => columns.includes(field))
  const { columns: read, rows } = await readOne(within<Plan, ReadPlan>(plan, byKey(plan.resource, key, selection)), key, [], call)
  if (rows.length === 0) throw notFound()
  return valuesAt(read, columns)(rows[0]!)
}

export const junctionFields = ({ junction: { resource } }: ManyToMany, names: readonly string[]) => names.map(name => resource.fields.get(name)!)

/** `exists (select 1 from junction where post_id = ? and tag_id = tags.id and …)`; row by row where code judges the links. */
export async function linkedTo(relation: ManyToMany, parent: readonly unknown[], through: Scoped<Plan>, call: Call): Promise<Clause> {
  const { junction, foreignColumns } = relation
  const there = junctionFields(relation, junction.there.columns)
  const own = [among(call.engine, junctionFields(relation, junction.here.columns), [parent]), ...through.scope]
  if (through.accepts) return among(call.engine, foreignColumns, (await judgedLinks(relation, own, through, call)).map(row => valuesAt(allFields(junction.resource), there)(row)))
  return fromClauses(shape`linked ${relation}`, own, () => sql`exists (select 1 from ${junction.resource.table} where ${all(own)} and ${meets(there, foreignColumns)})`)
}

/** @throws `LIMIT_EXCEEDED` when there are more links than a scan may judge. */
export async function judgedLinks(relation: ManyToMany, where: readonly Clause[], through: Scoped<Plan>, call: Call): Promise<Row[]> {
  const { api, engine } = call
  const { resource } = relation.junction
  const columns = allFields(resource)
  const most = scanBound(call)
  const key = shape`judged links ${resource}${shapeOf(where)}`
  const rows = await engine.query(statement(api.statements, engine, key, [...valuesOf(where), most + 1], () => ({
    sql: sql`select ${selectList(columns)} from ${resource.table}${whereAll(where)} limit ${sql.param(most + 1)}`,
    extra: undefined,
  })))
  if (rows.length > most) throw tooManyToJudge(most, 'The record has too many links.')
  return judge(rows, decoder(columns), through.accepts!)
}

/** `junction.tag_id = tags.id and …` */
export function meets(columns: readonly Field[], foreign: readonly Field[]): SQL {
  return sql.join(columns.map(({ column, bytes }, index) => meet(column, foreign[index]!.column, bytes)), sql` and `)
}
