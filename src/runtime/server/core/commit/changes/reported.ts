/** Plans a commit of custom code: its statements, and the statements of plugins for the changes that it reports. */
import type { BuiltStatement, WriteStatement } from '../../../engines/engine'
import { groupBy } from '../../../../shared/group-by'
import type { Key } from '../../../schema/record-id'
import type { Change } from '../../extensions/changes'
import type { Call } from '../../request/session'
import { inTuples } from '../../sql/list/index'
import { selectStatement } from '../select'
import { placeInsertions } from './batch/entries'
import { isUpdate } from './batch/images'
import { usesImages } from './batch/insert-select'
import { checkPinned, insertPinned, pinRows } from './batch/guarded-rows'
import { groupSets, requestStatements, type FindSet, type RequestedStatement } from './changed-rows'
import { derivedEntries } from './derived'
import { isNewRow } from './image'
import type { PlannedEntry } from './plan'
import { hasParticipants, needsSources, reportedColumns, type ChangeReport, type ReportingOperation } from './report'
import { rowsWhere } from './source'
import type { ChangedTable } from './table'
import { isWatched } from './watching'

export interface ReportedRow {
  readonly table: ChangedTable
  readonly kind: Change['kind']
  readonly key: Key
}

/** A statement without effect. The rows that it reports are known before the commit. */
const NOTHING: WriteStatement = Object.freeze({ text: 'select 1', values: [], returnsRows: true })

/** Plans one attempt of the commit. Reads the rows again whose values the commit needs. `operation` is the index of the statement. */
export type PlanAttempt = () => Promise<readonly PlannedEntry[]>

/** @throws The error with which a plugin refuses the commit. */
export async function planReported(
  statements: readonly BuiltStatement[],
  rows: readonly ReportedRow[],
  call: Call,
): Promise<PlanAttempt> {
  const own = statements.map((entry, operation): PlannedEntry => ({ entry, operation }))
  const reports = [...groupBy(rows, ({ table, kind }) => `${kind} ${table.resource ?? ''} ${table.name}`).values()].map(toReport)
  const snapshotsOf = (reports: readonly ChangeReport[]) =>
    reports.filter(({ kind }) => !isNewRow(kind)).map(report => snapshotOf(report, call))
  if (!hasParticipants(call) || rows.length === 0) {
    const watched = snapshotsOf(reports.filter(({ table }) => isWatched(call, table)))
    return async () => [...watched.map(toEntry), ...own]
  }
  const { sets, setOf } = groupSets(reports.map(changes => ({ changes })))
  const requested = await requestStatements(sets, call)
  if (needsSources(call)) return () => planBatch(own, reports, setOf, requested, call)
  const snapshots = snapshotsOf(reports)
  const operations: ReportingOperation[] = [...snapshots, ...statements.map(() => ({})), ...reports.map(changes => ({ changes }))]
  const entries = [
    ...snapshots.map(toEntry),
    ...own,
    ...reports.map(() => ({ entry: NOTHING })),
    ...derivedEntries(operations, sets, setOf, requested, call, true).map(entry => ({ entry })),
  ]
  return async () => entries
}

async function planBatch(
  own: readonly PlannedEntry[],
  reports: readonly ChangeReport[],
  setOf: FindSet,
  requested: readonly RequestedStatement[],
  call: Call,
): Promise<readonly PlannedEntry[]> {
  const insertions = (report: ChangeReport) =>
    requested.flatMap(request => 'target' in request && request.set === setOf(report) ? [request] : [])
  const isPinned = (report: ChangeReport) => isUpdate(report) && insertions(report).some(usesImages)
  const pinned = (await Promise.all(reports.filter(isPinned).map(report => pinRows(report, call)))).flat()
  const sourced = reports.filter(report => !isPinned(report)).map(report => withSource(report, call))
  const placed = placeInsertions(sourced.map(changes => ({ changes })), setOf, requested, call)
  return [
    ...pinned.flatMap(rows => checkPinned(rows, call).map((entry): PlannedEntry => ({ entry, checksRead: true }))),
    ...placed.flatMap(({ before }) => before.map(entry => ({ entry }))),
    ...own,
    ...placed.flatMap(({ after }) => after.map(entry => ({ entry }))),
    ...pinned.flatMap(rows => insertions(rows.report).map(insertion => ({ entry: insertPinned(insertion, rows, call) }))),
    ...requested.flatMap(request => 'build' in request ? [{ entry: request }] : []),
  ]
}

function toReport(rows: readonly ReportedRow[]): ChangeReport {
  const { table, kind } = rows[0]!
  return { table, kind, keys: rows.map(({ key }) => key) }
}

const keysOf = ({ table: { primaryKey }, keys = [] }: ChangeReport) =>
  keys.map(key => key.map((value, index) => primaryKey[index]!.encode(value)))

function snapshotOf(report: ChangeReport, call: Call) {
  const { table } = report
  const columns = reportedColumns(call, table)
  const where = [inTuples(call.engine, table.primaryKey, keysOf(report))]
  const statement = { ...selectStatement(call, table, where, columns, 'update'), expectedRows: undefined }
  return { statement, snapshot: { table, columns, source: rowsWhere(table, where) } }
}

const toEntry = ({ statement: entry, snapshot }: ReturnType<typeof snapshotOf>): PlannedEntry => ({ entry, snapshot })

const withSource = (report: ChangeReport, call: Call): ChangeReport =>
  ({ ...report, source: rowsWhere(report.table, [inTuples(call.engine, report.table.primaryKey, keysOf(report))]) })
