/** The operations of an update: check the references, lock the rows, then update each row. */
import type { Resource } from '../../schema/model'
import type { Selection } from '../access/fields'
import type { Call } from '../request/session'
import { keyClauses } from '../plan/read'
import { reportKey, withReported, type ChangeReport } from '../commit/changes/report'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import { snapshotOperations } from '../commit/snapshot'
import { updateStatement } from '../commit/update'
import { decoder, type RecordValues } from '../read/rows/decode'
import type { BuildOperations } from './build-operations'
import { databaseUpdates } from './database-effects'
import type { Item } from './items'
import { lockSeveral } from './locks'
import { predictUpdated } from './predict-result'
import { referenceOperations } from './reference-operations'
import { returnedFields, returningRow } from './returned-rows'
import { writeClauses } from './row-clauses'
import { updateValues } from './server-values'
import { keysClause } from './targets'
import { writableValues } from './writable-values'

/** A row that an earlier statement decides is reported when it is returned. */
function reportUpdate(call: Call, resource: Resource, { key, lateKey }: Item, columns: Selection, assigned: RecordValues): ChangeReport {
  const { keys, ...report } = reportKey(call, resource, 'update', key!, columns, assigned)
  return lateKey ? report : { keys, ...report }
}

export const updateOperations: BuildOperations = (plan, items, written, call, time) => {
  const { resource } = plan
  const selection = returnedFields(plan)
  const columns = withReported(call, resource, selection)
  const decode = decoder(columns, selection)
  const changed = new Map<Item, Record<string, unknown>>()
  const updates = items.flatMap((item): WriteOperation[] => {
    const values = writableValues(plan, item)
    const where = writeClauses(plan, item)
    if (Object.keys(values).length === 0) return [returningRow(selectStatement(call, resource, where, selection), item, written)]
    const assigned = updateValues(plan, values, call, time)
    changed.set(item, assigned)
    const statement = updateStatement(call, resource, assigned, where, columns, keyClauses(resource, item.key!))
    return [
      ...databaseUpdates(call, resource, item, assigned),
      { ...returningRow(statement, item, written, decode), changes: reportUpdate(call, resource, item, columns, assigned) },
    ]
  })
  return [
    ...referenceOperations(items, call),
    ...lockSeveral(plan, items, call),
    ...changed.size > 0 ? snapshotOperations(call, resource, [keysClause(plan, [...changed.keys()], call), ...plan.scope], true) : [],
    ...updates.map((operation, index) =>
      index === 0 ? { ...operation, predict: () => predictUpdated(plan, items, changed, written, call) } : operation),
  ]
}
