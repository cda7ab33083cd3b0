/** Reads rows before a commit changes them, if a plugin needs them. */
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { hasParticipants, needsImages, needsSources, reportedColumns } from './changes/report'
import { rowsWhere } from './changes/source'
import { changedTable } from './changes/table'
import { isWatched } from './changes/watching'
import type { WriteOperation } from './operation'
import { selectStatement } from './select'
import type { Where } from '../sql/where'

/**
 * `select … from t where … order by id for update`
 * @param returned whether the operations that change the rows also return them. Then a plugin without images needs no earlier values.
 */
export function snapshotOperations(call: Call, resource: Resource, where: readonly Where[], returned: boolean): WriteOperation[] {
  const table = changedTable(call, resource)
  const isNeeded = needsImages(call) || isWatched(call, table)
    || (!returned && (needsSources(call) || (hasParticipants(call) && table.tenant !== undefined)))
  if (!isNeeded) return []
  const columns = reportedColumns(call, table)
  const statement = selectStatement(call, resource, where, columns, 'update')
  return [{
    statement: { ...statement, expectedRows: undefined },
    snapshot: { table, columns, source: rowsWhere(table, where) },
    phase: 'lock',
  }]
}
