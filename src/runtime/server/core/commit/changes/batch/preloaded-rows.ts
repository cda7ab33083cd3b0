/**
 * Reads the rows of cascades before a batch. The parts of a group run one after another, and several of them can change the same row.
 * Only code can assign each row to one part, and its images span all parts.
 */
import type { CommitEntry, Outcome, WriteStatement } from '../../../../engines/engine'
import { toKey } from '../../../../schema/record-id'
import type { Call } from '../../../request/session'
import { assignRows } from '../assign'
import type { FindSet, RequestedStatement } from '../changed-rows'
import type { ChangeReport, ReportingOperation } from '../report'
import { checkPinned, insertPinned, pinRows, type PinnedRows } from './guarded-rows'

interface Reading {
  readonly statement: WriteStatement
  readonly changes: ChangeReport
}

export interface ReadRows {
  /** Fail the commit if other rows match or a row has changed. They run before every operation. */
  readonly checks: readonly WriteStatement[]
  /** Run after every operation. */
  readonly insertions: readonly CommitEntry[]
}

/** Whether only the database knows the rows of the report. */
export const isFound = ({ keys }: ChangeReport) => keys === undefined

export async function readAhead(
  operations: readonly (ReportingOperation & { readonly statement: WriteStatement })[],
  setOf: FindSet,
  requested: readonly RequestedStatement[],
  call: Call,
): Promise<ReadRows> {
  const found = operations.flatMap(({ statement, changes }): Reading[] => changes && isFound(changes) ? [{ statement, changes }] : [])
  // The last report of a row counts. A row that one part updates and another part removes is a removed row.
  const reading = [...found.filter(isUpdate), ...found.filter(each => !isUpdate(each))]
  const outcomes: Outcome[] = []
  for (const { statement } of reading) {
    const rows = await call.engine.query(statement)
    outcomes.push({ rows, affectedRows: rows.length })
  }
  const pinned: PinnedRows[] = []
  for (const [report, ids] of assignRows(reading, outcomes))
    pinned.push(...await pinRows({ ...report, keys: ids.map(id => toKey(report.table, id)!) }, call))
  return {
    checks: [
      ...reading.map(({ statement }, index) => ({ ...statement, expectedRows: outcomes[index]!.affectedRows })),
      ...pinned.flatMap(rows => checkPinned(rows, call)),
    ],
    insertions: pinned.flatMap(rows => requested.flatMap(request =>
      'target' in request && request.set === setOf(rows.report) ? [insertPinned(request, rows, call)] : [])),
  }
}

const isUpdate = ({ changes: { kind } }: Reading) => kind === 'update'
