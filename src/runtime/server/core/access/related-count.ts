/**
 * The SQL of relation counts. It accepts only related rows with a row scope, so a count cannot find out more than an include shows.
 *
 * A derived table selects the related rows, and another one the records behind a junction table. They do not refer to the tables around
 * them, so SQL of the app with the table's name means the related table, even if a table refers to itself.
 */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Relation } from '../../schema/model'
import { fieldsOf } from '../../schema/relation-columns'
import type { ScopedCount } from './plan'
import { sameBytes, whereClause } from '../sql/conditions'
import { commaList, EMPTY, joined, where, type Part, type Where } from '../sql/where'

/** The columns that refer to the outer row: those of the related rows, or of the junction table. */
export function referringFields(relation: Relation): readonly Field[] {
  if (relation.kind !== 'manyToMany') return relation.foreignColumns
  const { resource, sourceKey } = relation.junction
  return fieldsOf(resource, sourceKey.columns)
}

const RECORDS = sql.identifier('auto_api_records')
const ROWS = sql.identifier('auto_api_counted')
const COUNT = sql.identifier('auto_api_count')
const keyAt = (index: number) => sql.identifier(`auto_api_key_${index}`)

/**
 * The number of visible related rows of one outer row, for a statement with few outer rows, or with an index on the foreign key:
 * `(select count(*) from (select comments.post_id as k from comments where …) as r where r.k = posts.id)`.
 * @param columns the columns of the outer row to which the related rows refer
 */
export function countExpression(engine: Engine, counted: ScopedCount, columns = outerColumns(counted)): Where {
  return where`(select count(*) from (${relatedKeys(counted, [])}) as ${ROWS} where ${refersTo(engine, counted, ROWS, columns)})`
}

/** A count that a statement joins: the clause that follows the outer table, and the number. */
export interface JoinedCount {
  readonly join: Where
  /** 0 if no related row is visible. */
  readonly count: Where
}

/**
 * The number of visible related rows of each outer row, which the database counts once for all of them:
 * `left join (select r.k, count(*) as n from (select post_id as k from comments where …) as r group by r.k) as c on c.k = posts.id`.
 * @param index tells the joined counts of one statement apart
 * @param only conditions on {@link referringFields}, for a statement with few outer rows
 */
export function joinCount(
  engine: Engine, counted: ScopedCount, index: number, only: readonly Where[] = [], columns = outerColumns(counted),
): JoinedCount {
  const alias = sql.identifier(`auto_api_count_${index}`)
  const join = where` left join (${groups(counted, only)}) as ${alias} on ${refersTo(engine, counted, alias, columns)}`
  return { join, count: where`coalesce(${alias}.${COUNT}, 0)` }
}

/** `select r.k, count(*) as n from (…) as r group by r.k`. Texts that only a collation considers equal are groups of their own. */
export function groups(counted: ScopedCount, only: readonly Where[] = [], having: Where = EMPTY): Where {
  const keys = referringFields(counted.relation).map((field, index) => ({ name: keyAt(index), field, value: sql`${ROWS}.${keyAt(index)}` }))
  const selected = commaList(keys.map(({ name, value }) => where`${value} as ${name}`))
  const grouped = commaList(keys.flatMap(({ field, value }) => exactly(value, field)))
  return where`select ${selected}, count(*) as ${COUNT} from (${relatedKeys(counted, only)}) as ${ROWS} group by ${grouped}${having}`
}

const outerColumns = ({ relation }: ScopedCount): readonly Column[] => relation.columns.map(({ column }) => column)

function refersTo(
  { adapter }: Engine, { relation }: ScopedCount, rows: Part, outer: readonly (Column | SQL)[],
): Where {
  return joined(referringFields(relation).map((field, index) => {
    const value = adapter.convert(sql`${outer[index]!}`, relation.columns[index]!.column, field.column)
    return sameBytes(sql`${rows}.${keyAt(index)}`, value, field.bytes)
  }), ' and ')
}

/**
 * One row for each related row: `select post_id as k from comments where …`. Over a junction table, a record counts if the caller can see
 * a link to it, and a record that is linked several times counts once.
 */
function relatedKeys({ relation, plan, through }: ScopedCount, only: readonly Where[]): Where {
  const keys = referringFields(relation)
  const selected = commaList(keys.map(({ column }, index) => where`${column} as ${keyAt(index)}`))
  const { table } = relation.target
  const conditions = [...plan.where, ...plan.scope]
  if (relation.kind !== 'manyToMany') return where`select ${selected} from ${table}${whereClause([...only, ...conditions])}`
  const { resource, targetKey, unique } = relation.junction
  const targets = fieldsOf(resource, targetKey.columns)
  const names = relation.foreignColumns.map(({ column }, index) => where`${column} as ${keyAt(index)}`)
  const records = where`(select ${commaList(names)} from ${table}${whereClause(conditions)}) as ${RECORDS}`
  const isLinked = targets.map(({ column }, index) =>
    sameBytes(sql`${RECORDS}.${keyAt(index)}`, column, relation.foreignColumns[index]!.bytes))
  const rows = where`select ${selected} from ${resource.table} inner join ${records} on ${joined(isLinked, ' and ')}`
  const links = where`${rows}${whereClause([...only, ...through!.scope])}`
  return unique ? links : where`${links} group by ${commaList([...keys, ...targets].flatMap(field => exactly(field.column, field)))}`
}

/** What a GROUP BY names to tell values apart by their bytes. */
const exactly = (value: Column | SQL, { bytes }: Field): readonly Part[] => bytes ? [value, bytes.operand(sql`${value}`)] : [value]
