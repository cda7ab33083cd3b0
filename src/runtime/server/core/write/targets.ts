/** Loads the rows that a write names, in one statement. A row that the caller cannot see gets 404. */
import type { Awaitable } from '../awaitable'
import type { Row } from '../../engines/engine'
import type { Call } from '../request/session'
import { notFound, refused } from '../error'
import { allFields, select, type Selection } from '../access/fields'
import type { ReadPlan } from '../plan/read-plan'
import { inUniqueKeys } from '../sql/list/index'
import { tupleKey } from '../sql/tuple-key'
import { within, type Plan, type Scoped } from '../access/row-scope'
import type { Target } from './items'
import { isInvalidValue } from '../read/rows/invalid-value'
import { decoder, valuesAt, type RecordValues } from '../read/rows/decode'
import { rowsStatement } from '../read/rows/select'
import type { Where } from '../sql/where'

/** Returns the columns to load: the primary key and the foreign keys, or every column if `objectLevel` rules read the row. */
export function targetColumns({ resource, accepts }: Scoped<Plan>): Selection {
  if (accepts) return allFields(resource)
  const keys = new Set([...resource.primaryKey.map(({ name }) => name), ...resource.foreignKeys.flatMap(key => key.columns)])
  return select(resource, field => keys.has(field.name))
}

/** Sets the row or the error of each item: 404 for a row that is not visible, 403 for a row that the caller can read but not write. */
export function loadTargets(plan: Scoped<Plan>, items: readonly Target[], call: Call): Awaitable<void> {
  const isNamed = ({ key, error }: Target) => key !== undefined && error === undefined
  if (items.some(isNamed)) return loadNamed(plan, items.filter(isNamed), call)
}

async function loadNamed(plan: Scoped<Plan>, named: readonly Target[], call: Call): Promise<void> {
  const columns = targetColumns(plan)
  const rows = await readTargets(plan, named, columns, call)
  const keyOf = valuesAt(columns, plan.resource.primaryKey)
  const found = new Map(rows.map(row => [tupleKey(keyOf(row)), row]))
  const decode = decoder(columns)
  for (const item of named) {
    item.row = found.get(tupleKey(item.key!.map((value, index) => plan.resource.primaryKey[index]!.encode(value))))
    item.error = item.row ? await accessError(plan, decode(item.row), call) : notFound()
  }
}

/**
 * Reads the rows in one query. The query fails if a key does not fit the type of its column. Each row is then read alone, and the
 * invalid key finds no row.
 */
async function readTargets(plan: Scoped<Plan>, items: readonly Target[], columns: Selection, call: Call): Promise<readonly Row[]> {
  try {
    return await call.engine.query(rowsStatement(readPlan(plan, items, columns, call), columns, {}, call))
  }
  catch (error) {
    if (!await isInvalidValue(error, plan, call)) throw error
    if (items.length === 1) return []
    const rows: Row[] = []
    for (const item of items) rows.push(...await readTargets(plan, [item], columns, call))
    return rows
  }
}

function readPlan(plan: Scoped<Plan>, items: readonly Target[], selection: Selection, call: Call): Scoped<ReadPlan> {
  return within<Plan, ReadPlan>(plan, { selection, where: [keysClause(plan, items, call)], order: [], count: false })
}

/** `id = ?`, or `id in (…)`. */
export function keysClause({ resource: { primaryKey } }: Plan, items: readonly Target[], { engine }: Call): Where {
  return inUniqueKeys(engine, primaryKey, items.map(item => item.key!.map((value, index) => primaryKey[index]!.encode(value))))
}

async function accessError({ accepts, canRead }: Scoped<Plan>, row: RecordValues, { ctx }: Call): Promise<Error | undefined> {
  if (!accepts || await accepts(row)) return undefined
  return await canRead!(row) ? refused(ctx) : notFound()
}
