/** The SQL of relation filters. It accepts only related rows with a row scope, so a filter cannot find out more than an include shows. */
import { sql } from 'drizzle-orm'
import type { Engine } from '../../engines/engine'
import { selectExactly, type Field } from '../../schema/field'
import type { Relation, Resource } from '../../schema/model'
import { fieldsOf } from '../../schema/relation-columns'
import type { Plan, RelatedOrder, Scoped, ScopedRelatedRows, ScopedRelatedValue, ScopedRelationFilter } from './plan'
import { noneOf, or, sameBytes, whereClause } from '../sql/conditions'
import { sortedComputed, type ComputedOrder } from '../sql/keyset'
import { asSql, commaList, joined, where, type Where } from '../sql/where'

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
function relatedClause(engine: Engine, { relation, match, plan, through }: ScopedRelatedRows): Where {
  return matchRows(engine, match, relation.columns, visibleRows(engine, relation, [...plan.where, ...plan.scope], through))
}

/** The related rows or, over a junction table, the links to them. */
function visibleRows(engine: Engine, relation: Relation, conditions: readonly Where[], through: Scoped<Plan> | undefined): Rows {
  const records: Rows = { resource: relation.target, keys: relation.foreignColumns, where: conditions }
  if (relation.kind !== 'manyToMany') return records
  const { junction: { resource, sourceKey, targetKey } } = relation
  const isLinked = matchRows(engine, 'some', fieldsOf(resource, targetKey.columns), records)
  return { resource, keys: fieldsOf(resource, sourceKey.columns), where: [...through!.scope, isLinked] }
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
function exists(engine: Engine, columns: readonly Field[], related: Rows): Where {
  const { rows, same } = correlated(engine, columns, related, [])
  return where`exists (select 1 from ${rows} where ${same})`
}

/** Rows with their keys as a table, and the condition that their keys are those of a row around it. */
function correlated(
  { adapter }: Engine, columns: readonly Field[], { resource, keys, where: conditions }: Rows, values: readonly Where[],
): { readonly rows: Where, readonly same: Where } {
  const selected = commaList([...keys.map(({ column }, index) => where`${column} as ${keyAt(index)}`), ...values])
  const same = keys.map((key, index) => {
    const { column } = columns[index]!
    return sameBytes(sql`${RELATED}.${keyAt(index)}`, adapter.convert(sql`${column}`, column, key.column), key.bytes)
  })
  return { rows: where`(select ${selected} from ${resource.table}${whereClause(conditions)}) as ${RELATED}`, same: joined(same, ' and ') }
}

export function computedOrder(engine: Engine, { field, path, descending }: RelatedOrder, related: ScopedRelatedValue): ComputedOrder {
  const value = relatedValue(engine, related)
  const column = columnOf(related)
  const selection = column ? selectExactly(column, asSql(value)) : value
  const sorted = sortedComputed(engine, value, field.nullable, descending)
  return { field, path, descending, computed: { value, selection, sorted, ...!column && { read: toCount } } }
}

/** The field at the end of the path. `undefined` for a count. */
const columnOf = ({ of }: ScopedRelatedValue): Field | undefined => of && 'relation' in of ? columnOf(of) : of

/** Some drivers return counts as text. A count of rows that the caller cannot see is NULL. */
const toCount = (raw: unknown) => raw === null ? null : Number(raw)

const VALUE = sql.identifier('auto_api_value')

/**
 * `(select r.v from (select users.id as k, users.name as v from users where …) as r where r.k = posts.author_id)`, or `count(*)` instead of
 * `r.v`. It is NULL if the caller can see no such row. As in {@link matchRows}, the inner subquery does not refer to the table around it.
 */
export function relatedValue(engine: Engine, { relation, plan, through, of }: ScopedRelatedValue): Where {
  if (of === undefined) return relatedCount(engine, relation, plan, through)
  const { target, columns, foreignColumns: keys } = relation
  const value = 'relation' in of ? relatedValue(engine, of) : where`${of.column}`
  const { rows, same } = correlated(engine, columns, { resource: target, keys, where: plan.scope }, [where`${value} as ${VALUE}`])
  // A foreign key can reference columns that are not unique. The least value then decides.
  const isOne = target.primaryKey.every(field => keys.includes(field))
  const found = where`select ${RELATED}.${VALUE} from ${rows} where ${same}`
  return isOne ? where`(${found})` : where`(${found} order by ${RELATED}.${VALUE} limit 1)`
}

function relatedCount(engine: Engine, relation: Relation, plan: Scoped<Plan>, through?: Scoped<Plan>): Where {
  const { rows, same } = correlated(engine, relation.columns, visibleRows(engine, relation, plan.scope, through), [])
  return where`(select count(*) from ${rows} where ${same})`
}
