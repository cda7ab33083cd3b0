/** The SQL of relation filters. It accepts only related rows with a row scope, so a filter cannot find out more than an include shows. */
import { sql } from 'drizzle-orm'
import type { Engine } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { fieldsOf } from '../../schema/relation-columns'
import { matchCount } from './related-count'
import type { Plan, Scoped, ScopedRelatedRows, ScopedRelationFilter } from './plan'
import { noneOf, or, sameBytes, whereClause } from '../sql/conditions'
import { commaList, joined, where, type Where } from '../sql/where'

export function relatedClauses(engine: Engine, filters: readonly ScopedRelationFilter[]): readonly Where[] {
  return filters.map((filter) => {
    if (!('branches' in filter)) return relatedClause(engine, filter)
    const combine = filter.not ? noneOf : or
    return combine(filter.branches.map(({ where, relationFilters }) => [...where, ...relatedClauses(engine, relationFilters)]))
  })
}

/** Returns the plans of all related rows, those of junction tables and of nested filters included. */
export function relatedPlans(filters: readonly ScopedRelationFilter[] = []): readonly Scoped<Plan>[] {
  return filters.flatMap(filter => 'branches' in filter
    ? filter.branches.flatMap(({ relationFilters }) => relatedPlans(relationFilters))
    : [filter.plan, ...filter.through ? [filter.through] : [], ...relatedPlans(filter.plan.related?.filters)])
}

/** Over a junction table, a row must have a link that the caller can see to a record that the caller can see. */
function relatedClause(engine: Engine, filter: ScopedRelatedRows): Where {
  const { relation, match, plan, through, count } = filter
  if (count) return matchCount(engine, filter, count)
  const records: Rows = { resource: relation.target, keys: relation.foreignColumns, where: [...plan.where, ...plan.scope] }
  if (relation.kind !== 'manyToMany') return matchRows(engine, match, relation.columns, records)
  const { junction: { resource, sourceKey, targetKey } } = relation
  const isLinked = matchRows(engine, 'some', fieldsOf(resource, targetKey.columns), records)
  const links = { resource, keys: fieldsOf(resource, sourceKey.columns), where: [...through!.scope, isLinked] }
  return matchRows(engine, match, relation.columns, links)
}

/** Rows and the columns by which others refer to them. */
interface Rows {
  readonly resource: Resource
  readonly keys: readonly Field[]
  readonly where: readonly Where[]
}

/**
 * Matches rows whose `columns` refer to one of the other rows, or to none of them.
 *
 * The subqueries do not refer to the table around them, so SQL of the app with the table's name means the innermost table, even if a table
 * refers to itself. The engine can run each subquery once instead of once per row.
 */
export function matchRows(engine: Engine, match: 'some' | 'none', columns: readonly Field[], rows: Rows): Where {
  const { keysInSelect } = engine.adapter
  const some = keysInSelect ? inSelect(keysInSelect, columns, rows) : exists(engine, columns, rows)
  if (match === 'some') return some
  // `in` returns NULL for a key that is NULL, and for a key that is not found among keys of which one is NULL.
  return keysInSelect ? where`(${some}) is not true` : where`not ${some}`
}

/** `posts.author_id in (select users.id from users where …)` */
function inSelect(operandsOf: NonNullable<Engine['adapter']['keysInSelect']>, columns: readonly Field[], rows: Rows): Where {
  const operands = (fields: readonly Field[]) =>
    fields.flatMap(({ column }, index) => operandsOf(sql`${column}`, rows.keys[index]!.bytes))
  const own = operands(columns)
  const left = own.length > 1 ? where`(${commaList(own)})` : commaList(own)
  return where`${left} in (select ${commaList(operands(rows.keys))} from ${rows.resource.table}${whereClause(rows.where)})`
}

const RELATED = sql.identifier('auto_api_related')
const keyAt = (index: number) => sql.identifier(`auto_api_key_${index}`)

/** `exists (select 1 from (select users.id as k from users where …) as r where r.k = posts.author_id)` */
function exists({ adapter }: Engine, columns: readonly Field[], { resource, keys, where: conditions }: Rows): Where {
  const selected = commaList(keys.map(({ column }, index) => where`${column} as ${keyAt(index)}`))
  const related = where`(select ${selected} from ${resource.table}${whereClause(conditions)}) as ${RELATED}`
  const same = keys.map((key, index) => {
    const { column } = columns[index]!
    return sameBytes(sql`${RELATED}.${keyAt(index)}`, adapter.convert(sql`${column}`, column, key.column), key.bytes)
  })
  return where`exists (select 1 from ${related} where ${joined(same, ' and ')})`
}
