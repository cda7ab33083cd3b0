/**
 * Adds the statements of plugins to a commit whose outcomes code cannot use, such as a D1 batch. Rows for changed rows are inserted in SQL:
 * before a change that rows no longer match afterwards, and after a change that creates the rows.
 */
import type { CommitEntry } from '../../../../engines/engine'
import type { Call } from '../../../request/session'
import type { FindSet, RequestedStatement } from '../changed-rows'
import { isNewRow } from '../image'
import type { ChangeReport, ReportingOperation } from '../report'
import type { AssignedValues, RowSource } from '../source'
import type { ChangedTable } from '../table'
import { insertSelect } from './insert-select'

export interface Placed {
  readonly before: readonly CommitEntry[]
  readonly after: readonly CommitEntry[]
}

const NO_VALUES: AssignedValues = new Map()

/** Returns the statements to run directly before and after each operation. */
export function placeInsertions(
  operations: readonly ReportingOperation[],
  setOf: FindSet,
  requested: readonly RequestedStatement[],
  call: Call,
): readonly Placed[] {
  const insert = (report: ChangeReport, source: RowSource) => requested.flatMap(request =>
    'target' in request && request.set === setOf(report) ? [insertSelect(request, source, report.assigned ?? NO_VALUES, call)] : [])
  return operations.map(({ snapshot, changes, step }): Placed => {
    // The rows that a later operation removes. A cascade can change them before that operation runs.
    const removal = snapshot && operations.flatMap(operation => operation.step === step ? operation.changes ?? [] : [])
      .find(report => isRemoval(report, snapshot.table))
    const before = removal ? insert(removal, snapshot.source) : []
    if (!changes?.source) return { before, after: [] }
    const own = insert(changes, changes.source)
    return isNewRow(changes.kind) ? { before, after: own } : { before: [...before, ...own], after: [] }
  })
}

const isRemoval = ({ keys, source, table }: ChangeReport, of: ChangedTable) => keys !== undefined && source === undefined && table === of
