/** The operations of an update: check the references, lock the rows, then update each row. */
import { keyClauses } from '../../plan/read'
import { changeOf } from '../commit/changes'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import { updateStatement } from '../commit/update'
import type { BuildOperations } from './build-operations'
import { lockSeveral } from './locks'
import { referenceOperations } from './reference-operations'
import { returnedFields, returningRow } from './returned'
import { writeClauses } from './row-clauses'
import { updateValues } from './server-values'
import { writableValues } from './writable-values'

export const updateOperations: BuildOperations = (plan, items, written, call, time) => {
  const { resource } = plan
  const selection = returnedFields(plan)
  const updates = items.map((item): WriteOperation => {
    const values = writableValues(plan, item)
    const where = writeClauses(plan, item)
    if (Object.keys(values).length === 0) return returningRow(selectStatement(call, resource, where, selection), item, written)
    const statement
      = updateStatement(call, resource, updateValues(plan, values, call, time), where, selection, keyClauses(resource, item.key!))
    return { ...returningRow(statement, item, written), changes: () => [changeOf(call, resource, 'update', item.key!)] }
  })
  return [...referenceOperations(items, call), ...lockSeveral(plan, items, call), ...updates]
}
