/**
 * The SQL of an order by related rows. It accepts only related rows with a row scope, so an order cannot find out more than an include
 * shows: the value of a row that the caller cannot see is NULL.
 */
import { sql } from 'drizzle-orm'
import type { Engine } from '../../engines/engine'
import { selectExactly, type Field } from '../../schema/field'
import type { RelatedOrder, ScopedRelatedValue } from './plan'
import { joinCount } from './related-count'
import { sameBytes, whereClause } from '../sql/conditions'
import { sortedComputed, type ComputedOrder } from '../sql/keyset'
import { asSql, commaList, EMPTY, joined, where, type Where } from '../sql/where'

/** @param index tells the values of one statement apart */
export function computedOrder(
  engine: Engine, { field, path, descending }: RelatedOrder, related: ScopedRelatedValue, index: number,
): ComputedOrder {
  const { join, value } = joinValue(engine, related, index)
  const column = columnOf(related)
  const selection = column ? selectExactly(column, asSql(value)) : value
  const sorted = sortedComputed(engine, value, field.nullable, descending)
  return { field, path, descending, computed: { join, value, selection, sorted, ...!column && { read: toCount } } }
}

/** The field at the end of the path. `undefined` for a count. */
const columnOf = ({ of }: ScopedRelatedValue): Field | undefined => of && 'relation' in of ? columnOf(of) : of

/** Some drivers return counts as text. The count of a row that the caller cannot see is NULL. */
const toCount = (raw: unknown) => raw === null ? null : Number(raw)

interface JoinedValue {
  readonly join: Where
  readonly value: Where
}

const VALUE = sql.identifier('auto_api_value')
const POSITION = sql.identifier('auto_api_n')
const keyAt = (index: number) => sql.identifier(`auto_api_key_${index}`)

function joinValue(engine: Engine, related: ScopedRelatedValue, index: number): JoinedValue {
  const { of } = related
  if (of === undefined) {
    const { join, count } = joinCount(engine, related, index)
    return { join, value: count }
  }
  return joinRelated(engine, related, 'relation' in of ? joinValue(engine, of, index) : { join: EMPTY, value: where`${of.column}` }, index)
}

/**
 * `left join (select users.id as k, users.name as v from users where …) as s on s.k = posts.author_id`.
 * As in `join.ts`, a subquery selects the rows: it does not refer to the table around it.
 */
function joinRelated(engine: Engine, { relation, plan }: ScopedRelatedValue, inner: JoinedValue, index: number): JoinedValue {
  const { columns, foreignColumns, target } = relation
  const alias = sql.identifier(`auto_api_sort_${index}`)
  const selected = [...foreignColumns.map(({ column }, at) => where`${column} as ${keyAt(at)}`), where`${inner.value} as ${VALUE}`]
  const from = where`${target.table}${inner.join}${whereClause(plan.scope)}`
  // No constraint keeps the key of a view unique.
  const isUnique = !target.readOnly && target.primaryKey.every(field => foreignColumns.includes(field))
  const rows = isUnique ? where`(select ${commaList(selected)} from ${from})` : firstRows(foreignColumns, selected, from, inner.value)
  const same = foreignColumns.map(({ column, bytes }, at) => {
    const { column: own } = columns[at]!
    return sameBytes(sql`${alias}.${keyAt(at)}`, engine.adapter.convert(sql`${own}`, own, column), bytes)
  })
  return { join: where` left join ${rows} as ${alias} on ${joined(same, ' and ')}`, value: where`${alias}.${VALUE}` }
}

/** A relation can compare columns that are not unique. A row then has the least value of its related rows, so that it stays one row. */
function firstRows(keys: readonly Field[], selected: readonly Where[], from: Where, value: Where): Where {
  const partition = commaList(keys.map(({ column, bytes }) => bytes ? bytes.operand(sql`${column}`) : column))
  const position = where`row_number() over (partition by ${partition} order by ${value}) as ${POSITION}`
  const all = where`select ${commaList([...selected, position])} from ${from}`
  return where`(select * from (${all}) as ${sql.identifier('auto_api_sorted')} where ${POSITION} = 1)`
}
