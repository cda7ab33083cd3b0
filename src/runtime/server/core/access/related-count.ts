/**
 * The SQL of relation counts. It accepts only related rows with a row scope, so a count cannot find out more than an include shows.
 *
 * A derived table selects the related rows, and another one the records behind a junction table. They do not refer to the tables around
 * them, so SQL of the app with the table's name means the related table, even if a table refers to itself.
 */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { OPERATORS, type ComparisonName } from '../../../shared/operators'
import type { CountComparison } from '../../../shared/relation-counts'
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Relation } from '../../schema/model'
import { isIndexed } from '../../schema/indexes'
import { fieldsOf } from '../../schema/relation-columns'
import type { ScopedCount } from './plan'
import { memoized, memoizedPair } from '../memoized'
import { and, not, sameBytes, whereClause } from '../sql/conditions'
import { asSql, commaList, constant, EMPTY, joined, value, word, where, type Part, type Where } from '../sql/where'

/** The columns that refer to the outer row: those of the related rows, or of the junction table. */
export function referringFields(relation: Relation): readonly Field[] {
  if (relation.kind !== 'manyToMany') return relation.foreignColumns
  const { resource, sourceKey } = relation.junction
  return fieldsOf(resource, sourceKey.columns)
}

const RECORDS = sql.identifier('auto_api_records')
const ROWS = sql.identifier('auto_api_counted')
const GROUPS = sql.identifier('auto_api_groups')
const COUNT = sql.identifier('auto_api_count')
const keyAt = (index: number) => sql.identifier(`auto_api_key_${index}`)

/** Whether {@link countExpression} reads only the related rows of its outer row. Otherwise it reads all rows of the table each time. */
export const isCountedByIndex = memoized((relation: Relation): boolean => {
  const resource = relation.kind === 'manyToMany' ? relation.junction.resource : relation.target
  return isIndexed(resource, referringFields(relation).map(({ name }) => name))
})

/**
 * The number of visible related rows of one outer row, for a statement with few outer rows and an index on the foreign key:
 * `(select count(*) from (select comments.post_id as k from comments where …) as r where r.k = posts.id)`.
 * @param columns the columns of the outer row to which the related rows refer
 */
export function countExpression(engine: Engine, counted: ScopedCount, columns?: readonly (Column | SQL)[]): Where {
  const { relation } = counted
  const isRelated = columns ? refersTo(engine, relation, ROWS, columns) : refersToTable(engine, relation)
  return where`(select count(*) from (${relatedKeys(counted, [], true)}) as ${ROWS} where ${isRelated})`
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
  engine: Engine, counted: ScopedCount, index: number, only: readonly Where[] = [],
  columns: readonly (Column | SQL)[] = outerColumns(counted.relation),
): JoinedCount {
  const alias = sql.identifier(`auto_api_count_${index}`)
  const join = where` left join (${groups(counted, only)}) as ${alias} on ${refersTo(engine, counted.relation, alias, columns)}`
  return { join, count: where`coalesce(${alias}.${COUNT}, 0)` }
}

const keysOf = (relation: Relation) =>
  referringFields(relation).map((field, index) => ({ name: keyAt(index), field, value: sql`${ROWS}.${keyAt(index)}` }))

/** `select r.k, count(*) as n from (…) as r group by r.k`. Texts that only a collation considers equal are groups of their own. */
function groups(counted: ScopedCount, only: readonly Where[]): Where {
  const keys = keysOf(counted.relation)
  const selected = commaList(keys.map(({ name, value }) => where`${value} as ${name}`))
  const grouped = commaList(keys.flatMap(({ field, value }) => exactly(value, field)))
  return where`select ${selected}, count(*) as ${COUNT} from (${relatedKeys(counted, only)}) as ${ROWS} group by ${grouped}`
}

/**
 * Matches rows by the number of their visible related rows:
 * `posts.id in (select r.k from (select post_id as k from comments where …) as r group by r.k having count(*) >= ?)`.
 * The subquery does not refer to the table around it, so the database can run it once instead of once per row. It finds no row without
 * related rows, so a condition that 0 meets is written as its complement.
 */
export function matchCount(engine: Engine, counted: ScopedCount, comparisons: readonly CountComparison[]): Where {
  const { number } = engine.adapter.aggregates
  const zeroMatches = comparisons.every(({ operator, value }) => signsOf(operator).includes(Math.sign(-value)))
  const condition = and(comparisons.map(({ operator, value: bound }) =>
    where`count(*) ${word(OPERATORS[operator].comparison.symbol)} ${number(asSql(value(bound)))}`))
  const found = inGroups(engine, counted, where` having ${zeroMatches ? not(condition) : condition}`)
  return zeroMatches ? where`((${found}) is not true)` : found
}

const signsOf = (operator: ComparisonName): readonly number[] => OPERATORS[operator].comparison.signs

function inGroups(engine: Engine, counted: ScopedCount, having: Where): Where {
  const { keysInSelect } = engine.adapter
  const { relation } = counted
  const found = keysOf(relation)
  const grouped = commaList(found.flatMap(({ field, value }) => exactly(value, field)))
  const rows = where`(${relatedKeys(counted, [])}) as ${ROWS} group by ${grouped}${having}`
  if (!keysInSelect) {
    const selected = commaList(found.map(({ name, value }) => where`${value} as ${name}`))
    const isOuter = refersTo(engine, relation, GROUPS, outerColumns(relation))
    return where`exists (select 1 from (select ${selected} from ${rows}) as ${GROUPS} where ${isOuter})`
  }
  const outer = commaList(found.flatMap(({ field }, index) => keysInSelect(sql`${relation.columns[index]!.column}`, field.bytes)))
  const left = outer.parts.length > 1 ? where`(${outer})` : outer
  return where`${left} in (select ${commaList(found.flatMap(({ field, value }) => keysInSelect(value, field.bytes)))} from ${rows})`
}

/** `r.k = posts.id` */
function refersTo({ adapter }: Engine, relation: Relation, rows: Part, outer: readonly (Column | SQL)[]): Where {
  return joined(referringFields(relation).map((field, index) => {
    const value = adapter.convert(sql`${outer[index]!}`, relation.columns[index]!.column, field.column)
    return sameBytes(sql`${rows}.${keyAt(index)}`, value, field.bytes)
  }), ' and ')
}

const outerColumns = ({ columns }: Relation): readonly Column[] => columns.map(({ column }) => column)

/** For the columns of the table, and not for those of another table or of a derived one. */
const refersToTable = memoizedPair((engine: Engine, relation: Relation) =>
  constant(refersTo(engine, relation, ROWS, outerColumns(relation))))

/** The parts of {@link relatedKeys} that do not depend on the caller. */
interface CountText {
  /** `select comments.post_id as k from comments`, or `select post_tags.post_id as k from post_tags inner join (select … from tags` */
  readonly start: Where
  /** `) as r on r.k = post_tags.tag_id`. Only over a junction table. */
  readonly isLinked: Where
  /** ` group by post_tags.post_id, post_tags.tag_id`, if two records can be linked several times. */
  readonly distinct: Where
}

const textOf = memoized((relation: Relation): CountText => {
  const keys = referringFields(relation)
  const selected = commaList(keys.map(({ column }, index) => where`${column} as ${keyAt(index)}`))
  const { table } = relation.target
  if (relation.kind !== 'manyToMany') return { start: constant(where`select ${selected} from ${table}`), isLinked: EMPTY, distinct: EMPTY }
  const { resource, targetKey, unique } = relation.junction
  const targets = fieldsOf(resource, targetKey.columns)
  const names = commaList(relation.foreignColumns.map(({ column }, index) => where`${column} as ${keyAt(index)}`))
  const same = targets.map(({ column }, index) => sameBytes(sql`${RECORDS}.${keyAt(index)}`, column, relation.foreignColumns[index]!.bytes))
  const links = commaList([...keys, ...targets].flatMap(field => exactly(field.column, field)))
  return {
    start: constant(where`select ${selected} from ${resource.table} inner join (select ${names} from ${table}`),
    isLinked: constant(where`) as ${RECORDS} on ${joined(same, ' and ')}`),
    distinct: unique ? EMPTY : constant(where` group by ${links}`),
  }
})

/**
 * One row for each related row: `select post_id as k from comments where …`. Over a junction table, a record counts if the caller can see
 * a link to it, and a record that is linked several times counts once.
 * @param besideKeys whether the statement around it selects the rows by their keys
 */
function relatedKeys(counted: ScopedCount, only: readonly Where[], besideKeys = false): Where {
  const { relation, plan, through } = counted
  const { start, isLinked, distinct } = textOf(relation)
  const conditions = plan.where.length === 0 ? plan.scope : [...plan.where, ...plan.scope]
  const hinted = (conditions: readonly Where[]) => whereClause(besideKeys && conditions.length > 0 ? [and(conditions, true)] : conditions)
  if (!through) return where`${start}${hinted([...only, ...conditions])}`
  return where`${start}${whereClause(conditions)}${isLinked}${hinted([...only, ...through.scope])}${distinct}`
}

/** What a GROUP BY names to tell values apart by their bytes. */
const exactly = (value: Column | SQL, { bytes }: Field): readonly Part[] => bytes ? [value, bytes.operand(sql`${value}`)] : [value]
