/** Reads the rows of a scoped plan. The values stay as the driver returns them, because cursors and includes need that form. */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Call } from '../../request/session'
import type { Key } from '../../../schema/record-id'
import type { ReadPlan } from '../../plan/read-plan'
import type { Scoped } from '../../access/row-scope'
import { isInvalidValue } from './invalid-value'
import { columnsOf, type Rows } from './columns'
import { planJoins } from './join'
import { rowsStatement, type ReadOptions } from './select'
import { scan } from './scan'
import { tupleKey } from '../../sql/tuple-key'
import { valuesAt } from './decode'
import { andThen, attempt, type Awaitable } from '../../awaitable'
import type { Selection } from '../../access/fields'

export type { Rows } from './columns'

/**
 * Reads visible rows of the plan. Under an `objectLevel` rule, reads in batches until the rule has accepted `limit` rows. A promise only
 * for such a rule, or if the engine returns one.
 */
export function readRows(plan: Scoped<ReadPlan>, options: ReadOptions, call: Call): Awaitable<Rows> {
  const columns = columnsOf(plan, options)
  if (plan.accepts) return readAccepted(plan, columns, options, call)
  const joins = planJoins(plan, columns)
  return andThen(call.engine.query(rowsStatement(plan, columns, options, call, joins)), rows => ({ columns, joins, rows }))
}

async function readAccepted(plan: Scoped<ReadPlan>, columns: Selection, options: ReadOptions, call: Call): Promise<Rows> {
  const { offset = 0, limit = Infinity } = options
  const rows: Row[] = []
  let skipped = 0
  for await (const row of scan(plan, options, call)) {
    if (skipped < offset) skipped++
    else rows.push(row)
    if (rows.length >= limit) break
  }
  return { columns, rows }
}

/**
 * Reads the row with a key, if the row is visible. Under a case-insensitive collation, the database also finds the row by another
 * spelling of its key. The function removes such a row, because that spelling is not the row's id.
 * @param extraColumns columns that the query reads but the response does not contain
 */
export function readOne(plan: Scoped<ReadPlan>, key: Key, extraColumns: readonly Field[], call: Call): Awaitable<Rows> {
  const { primaryKey } = plan.resource
  if (!primaryKey.some(isTextKey)) return readRowsOrNone(plan, { cursor: true, extraColumns }, call)
  const textKeys = primaryKey.filter(isTextKey)
  return andThen(readRowsOrNone(plan, { cursor: true, extraColumns: [...extraColumns, ...textKeys] }, call), (found) => {
    const values = valuesAt(found.columns, textKeys)
    const expected = tupleKey(textKeys.map(field => field.encode(key[primaryKey.indexOf(field)])))
    const hasSameKey = (row: Row) =>
      tupleKey(values(row)) === expected
    return { ...found, rows: found.rows.filter(hasSameKey) }
  })
}

const isTextKey = ({ kind }: Field) => kind === 'text' || kind === 'custom'

/** Returns no rows if the key is not a valid value of its column. */
function readRowsOrNone(plan: Scoped<ReadPlan>, options: ReadOptions, call: Call): Awaitable<Rows> {
  return attempt(() => readRows(plan, options, call), async (error) => {
    if (!await isInvalidValue(error, plan, call)) throw error
    return { columns: columnsOf(plan, options), rows: [] }
  })
}
