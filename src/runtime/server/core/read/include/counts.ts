/** Adds the numbers of related records to records, as `_count`. One statement reads all counts of a page. */
import type { Statement } from '../../../engines/engine'
import { COUNT_PROPERTY } from '../../../../shared/relation-counts'
import type { Field } from '../../../schema/field'
import { keyFields } from '../../access/fields'
import { countExpression, isCountedByIndex, joinCount, referringFields } from '../../access/related-count'
import type { Scoped } from '../../access/row-scope'
import type { ReadPlan } from '../../plan/read-plan'
import { PUNCTUATION } from '../../process/size'
import type { Call } from '../../request/session'
import { whereClause } from '../../sql/conditions'
import { inTuples } from '../../sql/list/index'
import { statement } from '../../sql/parameterize'
import { commaList, joined, where, type Where } from '../../sql/where'
import { keyAt } from './parents'
import { valuesAt, type RecordValues } from '../rows/decode'
import type { Rows } from '../rows/rows'

type Tuples = readonly (readonly unknown[])[]

const DIGITS = 8

/** The size of the counts of one record as JSON. */
export function countsSize({ counts = [] }: Scoped<ReadPlan>): number {
  const numbers = counts.reduce((size, { relation }) => size + relation.name.length + PUNCTUATION + DIGITS, 0)
  return counts.length === 0 ? 0 : numbers + COUNT_PROPERTY.length + 2 * PUNCTUATION
}

/** @param records those of `found.rows`, in the same order */
export async function attachCounts(plan: Scoped<ReadPlan>, found: Rows, records: readonly RecordValues[], call: Call): Promise<void> {
  const { counts = [], resource: { primaryKey } } = plan
  if (counts.length === 0 || records.length === 0) return
  const numbers = new Map<string, readonly number[]>()
  await readCounts(plan, found, call, numbers)
  const keyOf = keyAt(found.columns, primaryKey)
  found.rows.forEach((row, index) => {
    const counted = numbers.get(keyOf(row)!)
    const named: Record<string, number> = {}
    counts.forEach(({ relation }, position) => {
      named[relation.name] = counted?.[position] ?? 0
    })
    records[index]![COUNT_PROPERTY] = named
  })
}

async function readCounts(plan: Scoped<ReadPlan>, found: Rows, call: Call, numbers: Map<string, readonly number[]>): Promise<void> {
  const { rows } = found
  const counting = countsStatement(plan, found, call)
  if (counting.values.length > call.engine.maxParameters && rows.length > 1) {
    const half = rows.length >> 1
    await readCounts(plan, { ...found, rows: rows.slice(0, half) }, call, numbers)
    return readCounts(plan, { ...found, rows: rows.slice(half) }, call, numbers)
  }
  const selection = keyFields(plan.resource)
  const keyOf = keyAt(selection, plan.resource.primaryKey)
  for (const row of await call.engine.query(counting)) numbers.set(keyOf(row)!, row.slice(selection.fields.length).map(Number))
}

/**
 * `select posts.id, (select count(*) from …), … from posts where posts.id in (…) and …`, with one joined table for each relation whose
 * foreign key has no index. The joined tables have no columns with names of an app, so names in its SQL stay unambiguous.
 */
function countsStatement(plan: Scoped<ReadPlan>, { columns, rows }: Rows, call: Call): Statement {
  const { resource, counts = [] } = plan
  const { engine } = call
  const valuesOf = (fields: readonly Field[]): Tuples => rows.map(valuesAt(columns, fields)).filter(values => !values.some(isNull))
  const selected: Where[] = [keyFields(resource).list]
  const joins: Where[] = []
  for (const count of counts) {
    if (isCountedByIndex(count.relation)) selected.push(countExpression(engine, count))
    else {
      const ofPage = inTuples(engine, referringFields(count.relation), valuesOf(count.relation.columns))
      const { join, count: number } = joinCount(engine, count, joins.length, [ofPage])
      selected.push(number)
      joins.push(join)
    }
  }
  const isOfPage = inTuples(engine, resource.primaryKey, valuesOf(resource.primaryKey))
  const from = joins.length === 0 ? where`${resource.table}` : where`${resource.table}${joined(joins, '')}`
  return statement(call, where`select ${commaList(selected)} from ${from}${whereClause([isOfPage, ...plan.scope])}`)
}

const isNull = (value: unknown) => value === null || value === undefined
