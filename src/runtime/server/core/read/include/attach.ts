/**
 * Adds included records to their parents. The rows of the parents already contain joined includes. For every other relation, one
 * statement reads the children of all parents.
 */
import type { Call } from '../../request/session'
import type { ReadPlan } from '../../plan/read-plan'
import type { Scoped } from '../../access/row-scope'
import { joinedRow, type Join, type ScopedInclude } from '../rows/join'
import { decoder, sizer, valuesAt, type ValueForm, type RecordValues } from '../rows/decode'
import type { Rows } from '../rows/rows'
import { attachCounts } from './counts'
import { spendRecord, type Budget } from './budget'
import { parentsOf, keyAt, type Level } from './parents'
import { readChildren } from './children'

/**
 * @throws `LIMIT_EXCEEDED` if the response would contain more than `relations.maxRows` included records, or more than `relations.maxBytes`
 * of them. A record with several parents counts once per parent, because JSON repeats it.
 */
export async function attachIncludes(
  plan: Scoped<ReadPlan>,
  found: Rows,
  records: readonly RecordValues[],
  form: ValueForm,
  call: Call,
): Promise<void> {
  const {
    relations: { maxRows, maxBytes },
    objectLevelMaxRows,
  } = call.api.config
  const maxChecks = Math.max(maxRows, objectLevelMaxRows)
  const budget: Budget = {
    recordsLeft: maxRows, maxRecords: maxRows, bytesLeft: maxBytes, maxBytes, checksLeft: maxChecks, maxChecks, form,
  }
  await attachLevel(plan, found, { records, occurrences: records.map(() => 1) }, call, budget)
}

async function attachLevel(plan: Scoped<ReadPlan>, found: Rows, level: Level, call: Call, budget: Budget): Promise<void> {
  if (plan.counts) await attachCounts(plan, found, level.records, call)
  for (const include of plan.include) {
    const join = found.joins?.find(join => join.include === include)
    if (join) attachJoined(join, found, level, budget)
    else await attach(include, found, level, call, budget)
  }
}

/** Adds joined rows. A collation can match two spellings of a key. In JSON they are different keys, so such a row is not included. */
function attachJoined(join: Join, { columns, rows }: Rows, { records, occurrences }: Level, budget: Budget): void {
  const { relation, plan } = join.include
  const keyOf = keyAt(columns, relation.columns)
  const ownKeyOf = keyAt(join.columns, relation.foreignColumns)
  const decode = decoder(join.columns, plan.selection, budget.form)
  const sizeOf = sizer(join.columns, plan.selection)
  const byKey = new Map<string, { readonly record: RecordValues, readonly size: number }>()
  rows.forEach((row, index) => {
    const key = keyOf(row)
    let related = key === undefined ? undefined : byKey.get(key)
    if (!related && key !== undefined) {
      const own = joinedRow(join, row)
      if (ownKeyOf(own) === key) byKey.set(key, related = { record: decode(own), size: sizeOf(own) })
    }
    if (related) spendRecord(budget, related.size, occurrences[index]!)
    records[index]![relation.name] = related?.record ?? null
  })
}

async function attach(include: ScopedInclude, found: Rows, { records, occurrences }: Level, call: Call, budget: Budget): Promise<void> {
  const { relation, plan } = include
  const keys = found.rows.map(keyAt(found.columns, relation.columns))
  const parents = parentsOf(found.rows, keys, occurrences, valuesAt(found.columns, relation.columns))
  const children = parents.size === 0 ? undefined : await readChildren(include, parents, call, budget)
  if (children) await attachLevel(plan, children, children, call, budget)
  const many = relation.kind !== 'one'
  records.forEach((record, index) => {
    const own = keys[index] === undefined ? undefined : children?.byParent.get(keys[index])
    record[relation.name] = many ? own ?? [] : own?.[0] ?? null
  })
}
