/** Plans a commit of custom code: its statements, and the statements of plugins for the changes that it reports. */
import type { BuiltStatement, WriteStatement } from '../../../../engines/engine'
import { groupBy } from '../../../../../shared/group-by'
import type { Key } from '../../../../schema/record-id'
import type { Change } from '../../../changes'
import type { Call } from '../../../context'
import { inTuples } from '../../../sql/list/index'
import { selectStatement } from '../select'
import { placeInsertions } from './batch/entries'
import { groupSets, requestStatements } from './changed-rows'
import { derivedEntries } from './derived'
import { isNewRow, isRemovedRow } from './image'
import type { PlannedEntry } from './plan'
import { hasParticipants, needsImages, needsSources, reportedColumns, type ChangeReport, type ReportingOperation } from './report'
import { rowsWhere } from './source'
import type { ChangedTable } from './table'

export interface ReportedRow {
  readonly table: ChangedTable
  readonly kind: Change['kind']
  readonly key: Key
}

/** A statement without effect. The rows that it reports are known before the commit. */
const NOTHING: WriteStatement = Object.freeze({ text: 'select 1', values: [], returnsRows: true })

/**
 * `operation` of an entry is the index of the statement.
 * @throws The error with which a plugin refuses the commit. `TypeError` on an engine that cannot read the rows before and after.
 */
export async function planReported(
  statements: readonly BuiltStatement[],
  rows: readonly ReportedRow[],
  call: Call,
): Promise<readonly PlannedEntry[]> {
  const own = statements.map((entry, operation): PlannedEntry => ({ entry, operation }))
  if (!hasParticipants(call) || rows.length === 0) return own
  const reports = [...groupBy(rows, ({ table, kind }) => `${kind} ${table.resource ?? ''} ${table.name}`).values()].map(toReport)
  const { sets, setOf } = groupSets(reports.map(changes => ({ changes })))
  const requested = await requestStatements(sets, call)
  if (needsSources(call)) {
    const sourced = reports.map(report => withSource(report, call))
    const placed = placeInsertions(sourced.map(changes => ({ changes })), setOf, requested, call)
    return [
      ...placed.flatMap(({ before }) => before.map(entry => ({ entry }))),
      ...own,
      ...placed.flatMap(({ after }) => after.map(entry => ({ entry }))),
      ...requested.flatMap(request => 'build' in request ? [{ entry: request }] : []),
    ]
  }
  const snapshots = reports.filter(({ kind }) => !isNewRow(kind)).map(report => snapshotOf(report, call))
  const operations: ReportingOperation[] = [...snapshots, ...statements.map(() => ({})), ...reports.map(changes => ({ changes }))]
  return [
    ...snapshots.map(({ statement: entry }) => ({ entry })),
    ...own,
    ...reports.map(() => ({ entry: NOTHING })),
    ...derivedEntries(operations, sets, setOf, requested, call, true).map(entry => ({ entry })),
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

/** A batch cannot read a row before and after statements of the app. */
function withSource(report: ChangeReport, call: Call): ChangeReport {
  const { table, kind } = report
  if (needsImages(call) && !isNewRow(kind) && !isRemovedRow(kind, table))
    throw new TypeError(
      `[auto-api] reportChanges(): a plugin needs the values of "${table.name}" before and after the ${kind}. On D1, they are not known `
      + 'for statements of the app. Use an update of the API.',
    )
  return { ...report, source: rowsWhere(table, [inTuples(call.engine, table.primaryKey, keysOf(report))]) }
}
