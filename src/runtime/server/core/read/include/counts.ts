/** Adds the numbers of related records to records, as `_count`. One statement reads all counts of a page. */
import type { Statement } from '../../../engines/engine'
import { COUNT_PROPERTY } from '../../../../shared/relation-counts'
import type { Field } from '../../../schema/field'
import { keyFields } from '../../access/fields'
import type { ScopedCount } from '../../access/plan'
import { joinCount, referringFields } from '../../access/related-count'
import type { Scoped } from '../../access/row-scope'
import type { ReadPlan } from '../../plan/read-plan'
import { PUNCTUATION } from '../../process/size'
import type { Call } from '../../request/session'
import { whereClause } from '../../sql/conditions'
import { inTuples } from '../../sql/list/index'
import { statement } from '../../sql/parameterize'
import { commaList, joined, where } from '../../sql/where'
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
    records[index]![COUNT_PROPERTY] = Object.fromEntries(counts.map(({ relation }, position) => [relation.name, counted?.[position] ?? 0]))
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
 * `select posts.id, coalesce(c.n, 0), … from posts left join (select …, count(*) as n from … group by …) as c on … where posts.id in (…)
 * and …`. The joined tables have no columns with names of an app, so names in its SQL stay unambiguous.
 */
function countsStatement(plan: Scoped<ReadPlan>, { columns, rows }: Rows, call: Call): Statement {
  const { resource, counts = [] } = plan
  const { engine } = call
  const valuesOf = (fields: readonly Field[]): Tuples => rows.map(valuesAt(columns, fields)).filter(values => !values.some(isNull))
  const joinedCounts = counts.map((count: ScopedCount, index) => {
    const keys = valuesOf(count.relation.columns)
    return joinCount(engine, count, index, [inTuples(engine, referringFields(count.relation), keys)])
  })
  const selected = commaList([keyFields(resource).list, ...joinedCounts.map(({ count }) => count)])
  const from = where`${resource.table}${joined(joinedCounts.map(({ join }) => join), '')}`
  const isOfPage = inTuples(engine, resource.primaryKey, valuesOf(resource.primaryKey))
  return statement(call, where`select ${selected} from ${from}${whereClause([isOfPage, ...plan.scope])}`)
}

const isNull = (value: unknown) => value === null || value === undefined
