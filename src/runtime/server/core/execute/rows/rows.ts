/** Reads the rows of a scoped plan, with the driver's own values at hand for cursors and includes. */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Call } from '../../context'
import { allFields, select, type Selection } from '../../access/fields'
import type { Key } from '../../../schema/record-id'
import type { ReadPlan } from '../../plan/read-plan'
import type { Scoped } from '../../access/row-scope'
import { isInvalidValue } from './invalid-value'
import { planJoins, type Join } from './join'
import { rowsStatement, type ReadOptions } from './select'
import { scan } from './scan'
import { valuesAt } from './decode'

/** Rows by position, with the place of each field in them. */
export interface Rows {
  readonly rows: readonly Row[]
  readonly columns: Selection
  /** Included rows that stand behind those columns. */
  readonly joins?: readonly Join[]
}

/** The visible rows of a window of the plan. With `objectLevel`, batch by batch until the window is full. */
export async function readRows(plan: Scoped<ReadPlan>, window: ReadOptions, call: Call): Promise<Rows> {
  const columns = columnsOf(plan, window.cursor ?? false, window.extraColumns ?? [])
  if (!plan.accepts) {
    const joins = planJoins(plan, columns)
    return { columns, joins, rows: await call.engine.query(rowsStatement(plan, columns, window, call, joins)) }
  }
  const { offset = 0, limit = Infinity } = window
  const rows: Row[] = []
  let skipped = 0
  for await (const row of scan(plan, window, call)) {
    if (skipped < offset) skipped++
    else rows.push(row)
    if (rows.length >= limit) break
  }
  return { columns, rows }
}

/**
 * The row of a key, if it is visible. A collation may find another spelling of the key; that is another address, and no row has it.
 * @param besides columns whose values are needed besides what is shown.
 */
export async function readOne(plan: Scoped<ReadPlan>, key: Key, besides: readonly Field[], call: Call): Promise<Rows> {
  const { primaryKey } = plan.resource
  const spelled = primaryKey.filter(field => field.kind === 'text' || field.kind === 'custom')
  const found = await readValidKey(plan, { cursor: true, extraColumns: [...besides, ...spelled] }, call)
  const values = valuesAt(found.columns, spelled)
  const same = (row: Row) => values(row).every((value, index) => value === spelled[index]!.encode(key[primaryKey.indexOf(spelled[index]!)]))
  return { ...found, rows: found.rows.filter(same) }
}

/** No row has a key that is none of its column's type. */
async function readValidKey(plan: Scoped<ReadPlan>, window: ReadOptions, call: Call): Promise<Rows> {
  try {
    return await readRows(plan, window, call)
  }
  catch (error) {
    if (!await isInvalidValue(error, plan, call)) throw error
    return { columns: columnsOf(plan, window.cursor ?? false, window.extraColumns ?? []), rows: [] }
  }
}

/** What a plan needs of each row: what it shows, and the columns its includes and its cursor stand on. */
function columnsOf(plan: Scoped<ReadPlan>, cursor: boolean, besides: readonly Field[]): Selection {
  if (plan.accepts) return allFields(plan.resource)
  const keys = plan.include.flatMap(({ relation }) => relation.columns)
  const extra = [...keys, ...besides, ...cursor ? plan.order.map(({ field }) => field) : []]
  return extra.length === 0
    ? plan.selection
    : select(plan.resource, field => plan.selection.byName.has(field.name) || extra.includes(field))
}
