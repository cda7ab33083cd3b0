/** Which rows a statement can write: those in the row scope that have not changed since code checked them. */
import type { Row } from '../../../engines/engine'
import { isScalar } from '../../../engines/scalar'
import type { Call } from '../../context'
import { keyFields, type Selection } from '../../access/fields'
import type { Plan, Scoped } from '../../access/row-scope'
import { keyClauses } from '../../plan/read'
import { equalsRaw, isNull, NO_ROWS, or, shapeOf, type Clause } from '../../sql/clause'
import { inTuples } from '../../sql/list/index'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import { valuesAt } from '../rows/decode'
import type { Target } from './items'
import { targetColumns } from './targets'

/** The row of one target: by its key, if it is visible, and unchanged since code checked it. */
export function rowClauses(plan: Scoped<Plan>, target: Target): readonly Clause[] {
  return [...keyClauses(plan.resource, target.key!), ...plan.scope, ...unchangedSince(plan, target)]
}

/** No conditions where the row scope is SQL alone. */
function unchangedSince(plan: Scoped<Plan>, { row }: Target): readonly Clause[] {
  return plan.accepts && row ? columnsUnchanged(targetColumns(plan), row) : []
}

/** Every column has the value that was read. Columns whose values the engine cannot compare are left out. */
function columnsUnchanged({ fields }: Selection, row: Row): readonly Clause[] {
  return fields.flatMap((field, index): Clause[] => {
    const value = row[index]
    if (!field.comparable || (value !== null && !isScalar(value))) return []
    return [value === null ? isNull(field) : equalsRaw(field, value)]
  })
}

/**
 * `(id = ? and title = ?) or (id = ? and title is null) or …`: the rows that have not changed since they were read. The last row is
 * repeated up to a power of two, which keeps the number of different statements small.
 */
export function rowsUnchanged(columns: Selection, rows: readonly Row[]): Clause {
  const branches = rows.map(row => columnsUnchanged(columns, row)).sort((a, b) => shapeOf(a) < shapeOf(b) ? -1 : 1)
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, rows.length)))
  return rows.length === 0 ? NO_ROWS : or([...branches, ...Array.from({ length: length - rows.length }, () => branches.at(-1)!)])
}

const ROWS_PER_CHECK = 100

/** The commit fails if one of these rows, which code checked, is not visible any more or has changed. */
export function checkUnchanged(
  plan: Scoped<Plan>,
  columns: Selection,
  rows: readonly Row[],
  lock: 'share' | 'update',
  call: Call,
): WriteOperation[] {
  const { resource, scope } = plan
  const size = Math.max(1, Math.min(ROWS_PER_CHECK, Math.floor(call.engine.maxParameters / 2 / columns.fields.length)))
  const keyOf = valuesAt(columns, resource.primaryKey)
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index): WriteOperation => {
    const chunk = rows.slice(index * size, (index + 1) * size)
    const where = [inTuples(call.engine, resource.primaryKey, chunk.map(keyOf)), rowsUnchanged(columns, chunk), ...scope]
    const statement = { ...selectStatement(call, resource, where, keyFields(resource), lock), expectedRows: chunk.length }
    return { statement, expectation: 'row' }
  })
}
