/** Finds the rows a write names, all in one statement, and judges them: what the caller cannot see is not there. */
import type { Row } from '../../../engines/engine'
import { isScalar } from '../../../engines/scalar'
import type { Call } from '../../context'
import { notFound, refused } from '../../error'
import { allFields, keyFields, select, type Selection } from '../../access/fields'
import type { ReadPlan } from '../../plan/read-plan'
import type { WritePlan } from '../../plan/write'
import { inTuples, or, equals, equalsRaw, isNull, NO_ROWS, shapeOf, type Clause } from '../../sql/clause'
import { tupleKey } from '../../sql/tuple-key'
import { within, type Plan, type Scoped } from '../../access/row-scope'
import type { WriteOperation } from '../commit/commit'
import { withoutError, type Item } from './items'
import { isInvalidValue } from '../rows/invalid-value'
import { decoder, valuesAt, type RecordValues } from '../rows/decode'
import { rowsStatement } from '../rows/select'
import { selectStatement } from '../commit/statements'

/** The columns a row is read with: its key and foreign keys; all of them where code judges it. */
export function targetColumns({ resource, accepts }: Scoped<WritePlan>): Selection {
  if (accepts) return allFields(resource)
  const keys = new Set([...resource.primaryKey.map(({ name }) => name), ...resource.foreignKeys.flatMap(key => key.columns)])
  return select(resource, field => keys.has(field.name))
}

/** Gives each item its row, or its failure: 404 for a row that is not visible, 403 for one that may only be read. */
export async function loadTargets(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Promise<void> {
  const named = withoutError(items).filter(item => item.key)
  if (named.length === 0) return
  const columns = targetColumns(plan)
  const rows = await readTargets(plan, named, columns, call)
  const keyOf = valuesAt(columns, plan.resource.primaryKey)
  const found = new Map(rows.map(row => [tupleKey(keyOf(row)), row]))
  const decode = decoder(columns)
  for (const item of named) {
    item.row = found.get(tupleKey(item.key!.map((value, index) => plan.resource.primaryKey[index]!.encode(value))))
    item.error = item.row ? await verdict(plan, decode(item.row), call) : notFound()
  }
}

/** One key that is none of its column's type fails the query: then each is looked for by itself, and that one is not there. */
async function readTargets(plan: Scoped<WritePlan>, items: readonly Item[], columns: Selection, call: Call): Promise<readonly Row[]> {
  try {
    return await call.engine.query(rowsStatement(toRead(plan, items, columns, call), columns, {}, call))
  }
  catch (error) {
    if (!await isInvalidValue(error, plan, call)) throw error
    if (items.length === 1) return []
    const rows: Row[] = []
    for (const item of items) rows.push(...await readTargets(plan, [item], columns, call))
    return rows
  }
}

function toRead(plan: Scoped<WritePlan>, items: readonly Item[], selection: Selection, call: Call): Scoped<ReadPlan> {
  return within<WritePlan, ReadPlan>(plan, { selection, where: [keysClause(plan, items, call)], order: [], count: false })
}

/** `id = ?`, or `id in (…)`. */
export function keysClause({ resource: { primaryKey } }: WritePlan, items: readonly Item[], { engine }: Call): Clause {
  const keys = items.map(item => item.key!.map((value, index) => primaryKey[index]!.encode(value)))
  return items.length === 1 && primaryKey.length === 1 ? equals(primaryKey[0]!, items[0]!.key![0]) : inTuples(engine, primaryKey, keys)
}

async function verdict({ accepts, canRead }: Scoped<WritePlan>, row: RecordValues, { ctx }: Call): Promise<Error | undefined> {
  if (!accepts || await accepts(row)) return undefined
  return await canRead!(row) ? refused(ctx) : notFound()
}

/** The condition that a judged row still is what it was when it was judged. */
export function unchangedSince(plan: Scoped<WritePlan>, { row }: Item): readonly Clause[] {
  return plan.accepts && row ? columnsUnchanged(targetColumns(plan), row) : []
}

/** The columns of a row as they were read. Left out is what an engine does not compare by its value. */
function columnsUnchanged({ fields }: Selection, row: Row): readonly Clause[] {
  return fields.flatMap((field, index): Clause[] => {
    const value = row[index]
    if (!field.pinnable || (value !== null && !isScalar(value))) return []
    return [value === null ? isNull(field) : equalsRaw(field, value)]
  })
}

/** The rows that still are what they were when they were judged. Their number is rounded up by repeating the last one, for few texts. */
export function rowsUnchanged(columns: Selection, rows: readonly Row[]): Clause {
  const branches = rows.map(row => columnsUnchanged(columns, row)).sort((a, b) => shapeOf(a) < shapeOf(b) ? -1 : 1)
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, rows.length)))
  return rows.length === 0 ? NO_ROWS : or([...branches, ...Array.from({ length: length - rows.length }, () => branches.at(-1)!)])
}

/** Rows that code judged must still be visible, and what they were, when the commit is made. One statement for a hundred rows. */
export function stillAccepted(
  plan: Scoped<Plan>,
  columns: Selection,
  rows: readonly Row[],
  lock: 'share' | 'update',
  call: Call,
): WriteOperation[] {
  const { resource, scope } = plan
  const size = Math.max(1, Math.min(PINNED_AT_ONCE, Math.floor(call.engine.maxParameters / 2 / columns.fields.length)))
  const keyOf = valuesAt(columns, resource.primaryKey)
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index): WriteOperation => {
    const own = rows.slice(index * size, (index + 1) * size)
    const where = [inTuples(call.engine, resource.primaryKey, own.map(keyOf)), rowsUnchanged(columns, own), ...scope]
    return { statement: { ...selectStatement(call, resource, where, keyFields(resource), lock), expect: own.length }, expectation: 'row' }
  })
}

const PINNED_AT_ONCE = 100
