/** The conditions that limit a write to rows in the row scope that have not changed since code checked them. */
import type { Row } from '../../engines/engine'
import { isScalar } from '../../engines/driver-scalar'
import type { Call } from '../request/session'
import { keyFields, type Selection } from '../access/fields'
import type { Plan, Scoped } from '../access/row-scope'
import { keyClauses } from '../plan/read'
import { inTuples } from '../sql/list/index'
import type { WriteOperation } from '../commit/operation'
import { certified } from '../commit/certify'
import { selectStatement } from '../commit/select'
import { valuesAt } from '../read/rows/decode'
import type { Item, Target } from './items'
import { targetColumns } from './targets'
import { NO_ROWS, equalsRaw, isNull, or } from '../sql/conditions'
import type { Where } from '../sql/where'

/** Matches the row of one target by its key, if the row is visible and has not changed since code checked it. */
export function rowClauses(plan: Scoped<Plan>, target: Target): readonly Where[] {
  return [...keyClauses(plan.resource, target.key!), ...plan.scope, ...unchangedSince(plan, target)]
}

/** Like {@link rowClauses}, with the conditions of the item. */
export function writeClauses(plan: Scoped<Plan>, item: Item): readonly Where[] {
  return [...rowClauses(plan, item), ...conditionClauses(item), ...item.unchangedKeys ?? []]
}

export const conditionClauses = ({ conditions = [] }: Pick<Item, 'conditions'>): readonly Where[] =>
  conditions.flatMap(({ clauses }) => clauses)

/** Returns no conditions if SQL alone decides the row scope, because no code has checked the row then. */
function unchangedSince(plan: Scoped<Plan>, { row }: Target): readonly Where[] {
  return plan.accepts && row ? columnsUnchanged(targetColumns(plan), row) : []
}

/** Matches the row if these columns still have the values that were read. */
export function valuesUnchanged(plan: Scoped<Plan>, row: Row, names: readonly string[]): readonly Where[] {
  const columns = targetColumns(plan)
  const fields = columns.fields.filter(({ name }) => names.includes(name))
  return columnsUnchanged({ ...columns, fields }, fields.map(field => row[columns.fields.indexOf(field)]))
}

/** Matches the row if every column still has the value that was read. Leaves out columns whose values the engine cannot compare. */
function columnsUnchanged({ fields }: Selection, row: Row): readonly Where[] {
  return fields.flatMap((field, index): Where[] => {
    const value = row[index]
    if (!field.comparable || (value !== null && !isScalar(value))) return []
    return [value === null ? isNull(field) : equalsRaw(field, value)]
  })
}

/**
 * Matches the rows that have not changed since they were read: `(id = ? and title = ?) or (id = ? and title is null) or …`.
 * Repeats the condition of the last row until the number of conditions is a power of two. This keeps the number of different statements
 * small.
 */
export function rowsUnchanged(columns: Selection, rows: readonly Row[]): Where {
  // Rows with the same NULLs have the same conditions. Sorted, they make fewer different statements.
  const branches = [...rows].sort((a, b) => nullsOf(a) < nullsOf(b) ? -1 : 1).map(row => columnsUnchanged(columns, row))
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, rows.length)))
  return rows.length === 0 ? NO_ROWS : or([...branches, ...Array.from({ length: length - rows.length }, () => branches.at(-1)!)])
}

const nullsOf = (row: Row) => row.map(value => value === null ? '0' : '1').join('')

const ROWS_PER_CHECK = 100

/** Fails the commit if a row is no longer visible or has changed since code checked it. */
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
    return { statement: lock === 'share' ? certified(call, resource, statement) : statement, expectation: 'row' }
  })
}
