/** The SQL of relation filters. It accepts only related rows with a row scope, so a filter cannot find out more than an include shows. */
import { sql, type SQL } from 'drizzle-orm'
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { fieldsOf } from '../../schema/relation-columns'
import { fromClauses, or, sameBytes, whereClause, type Clause } from '../sql/clause'
import { shape, type Shape } from '../sql/shape'
import type { Plan, Scoped, ScopedRelatedRows, ScopedRelationFilter } from './plan'

export function relatedClauses(engine: Engine, filters: readonly ScopedRelationFilter[]): readonly Clause[] {
  return filters.map(filter => 'anyOf' in filter
    ? or(filter.anyOf.map(({ where, relationFilters }) => [...where, ...relatedClauses(engine, relationFilters)]))
    : relatedClause(engine, filter))
}

/** Returns the plans of all related rows, those of junction tables and of nested filters included. */
export function relatedPlans(filters: readonly ScopedRelationFilter[] = []): readonly Scoped<Plan>[] {
  return filters.flatMap(filter => 'anyOf' in filter
    ? filter.anyOf.flatMap(({ relationFilters }) => relatedPlans(relationFilters))
    : [filter.plan, ...filter.through ? [filter.through] : [], ...relatedPlans(filter.plan.related?.filters)])
}

/** Over a junction table, a row must have a link that the caller can see to a record that the caller can see. */
function relatedClause(engine: Engine, { relation, match, plan, through }: ScopedRelatedRows): Clause {
  const records: Rows = { resource: relation.target, keys: relation.foreignColumns, where: [...plan.where, ...plan.scope] }
  if (relation.kind !== 'manyToMany') return matchRows(engine, shape`rows of ${relation}`, match, relation.columns, records)
  const { junction: { resource, sourceKey, targetKey } } = relation
  const isLinked = matchRows(engine, shape`linked by ${relation}`, 'some', fieldsOf(resource, targetKey.columns), records)
  const links = { resource, keys: fieldsOf(resource, sourceKey.columns), where: [...through!.scope, isLinked] }
  return matchRows(engine, shape`links of ${relation}`, match, relation.columns, links)
}

/** Rows and the columns by which others refer to them. */
interface Rows {
  readonly resource: Resource
  readonly keys: readonly Field[]
  readonly where: readonly Clause[]
}

/**
 * Matches rows whose `columns` refer to one of the other rows, or to none of them.
 *
 * The subqueries do not refer to the table around them, so SQL of the app with the table's name means the innermost table, even if a table
 * refers to itself. The engine can run each subquery once instead of once per row.
 */
export function matchRows(engine: Engine, around: Shape, match: 'some' | 'none', columns: readonly Field[], rows: Rows): Clause {
  const { keysInSelect } = engine.adapter
  const some = () => keysInSelect ? inSelect(keysInSelect, columns, rows) : exists(engine, columns, rows)
  if (match === 'some') return fromClauses(shape`some ${around}`, rows.where, some)
  // `in` returns NULL for a key that is NULL, and for a key that is not found among keys of which one is NULL.
  return fromClauses(shape`none ${around}`, rows.where, () => keysInSelect ? sql`(${some()}) is not true` : sql`not ${some()}`)
}

/** `posts.author_id in (select users.id from users where …)` */
function inSelect(operandsOf: NonNullable<Engine['adapter']['keysInSelect']>, columns: readonly Field[], rows: Rows): SQL {
  const bytes = rows.keys.map(key => key.bytes)
  const list = (fields: readonly Field[]) =>
    sql.join(fields.flatMap(({ column }, index) => operandsOf(sql`${column}`, bytes[index])), sql`, `)
  const left = columns.length > 1 || bytes.some(one => one && operandsOf(sql``, one).length > 1) ? sql`(${list(columns)})` : list(columns)
  return sql`${left} in (select ${list(rows.keys)} from ${rows.resource.table}${whereClause(rows.where)})`
}

const RELATED = sql.identifier('auto_api_related')
const keyAt = (index: number) => sql.identifier(`auto_api_key_${index}`)

/** `exists (select 1 from (select users.id as k from users where …) as r where r.k = posts.author_id)` */
function exists({ adapter }: Engine, columns: readonly Field[], { resource, keys, where }: Rows): SQL {
  const selected = sql.join(keys.map(({ column }, index) => sql`${column} as ${keyAt(index)}`), sql`, `)
  const related = sql`(select ${selected} from ${resource.table}${whereClause(where)}) as ${RELATED}`
  const conditions = keys.map((key, index) => {
    const { column } = columns[index]!
    return sameBytes(sql`${RELATED}.${keyAt(index)}`, adapter.convert(sql`${column}`, column, key.column), key.bytes)
  })
  return sql`exists (select 1 from ${related} where ${sql.join(conditions, sql` and `)})`
}
