/** Creates the statements of plugins from the rows that the commit changed. For engines that can use the outcomes of a commit. */
import type { CommitEntry, Outcome, WriteStatement } from '../../../engines/engine'
import type { Call } from '../../request/session'
import { inTuples } from '../../sql/list/index'
import { selectList } from '../../read/rows/select'
import { assignRows } from './assign'
import type { ChangeSet, FindSet, RequestedStatement } from './changed-rows'
import { createCollector, type Collector, type FoundRow, type FoundRows } from './found-rows'
import { isRemovedRow } from './image'
import { insertRows } from './insert-rows'
import { needsImages, reportedColumns, type ReportingOperation } from './report'
import type { ChangedTable } from './table'
import { memoized } from '../../memoized'
import { statement } from '../../sql/parameterize'
import { where } from '../../sql/where'

/** Returns the rows that a step has changed. A commit that is no batch is one step. */
type FindRows = (step: number | undefined) => FoundRows

/**
 * Returns the entries to append to the operations of the commit.
 * @param readAll whether to read rows after the change even if no plugin needs images, because no operation returns their tenant
 */
export function derivedEntries(
  operations: readonly ReportingOperation[],
  sets: readonly ChangeSet[],
  setOf: FindSet,
  requested: readonly RequestedStatement[],
  call: Call,
  readAll = false,
): readonly CommitEntry[] {
  const changed = readAll || needsImages(call) ? sets.filter(({ kind, table }) => !isRemovedRow(kind, table)) : []
  const tables = [...new Set(changed.map(({ table }) => table))]

  // Each attempt of the commit has its own list of outcomes, which grows. Each outcome is collected once.
  const attemptOf = memoized((_: readonly Outcome[]) => ({ collectors: new Map<number | undefined, Collector>(), next: 0 }))
  const foundRows = (outcomes: readonly Outcome[]): FindRows => {
    const attempt = attemptOf(outcomes)
    const { collectors } = attempt
    for (const end = Math.min(outcomes.length, operations.length + tables.length); attempt.next < end; attempt.next++) {
      const operation = operations[attempt.next]
      const table = tables[attempt.next - operations.length]!
      const outcome = outcomes[attempt.next]!
      if (operation) collectorOf(collectors, operation.step).addOperation(operation, outcome)
      else for (const collector of collectors.values()) collector.addFinal(table, reportedColumns(call, table), outcome)
    }
    return step => collectors.get(step)!.rows
  }
  const collectorOf = (collectors: Map<number | undefined, Collector>, step: number | undefined) => {
    let collector = collectors.get(step)
    if (!collector) collectors.set(step, collector = createCollector(call))
    return collector
  }

  const assignedRows = memoized((outcomes: readonly Outcome[]) => assignRows(operations, outcomes))

  const stepOf = new Map(operations.flatMap(({ changes, step }) => changes ? [[changes, step]] : []))
  const rowsOf = (set: ChangeSet, found: FindRows, outcomes: readonly Outcome[]): readonly FoundRow[] =>
    [...assignedRows(outcomes)].flatMap(([report, ids]) => {
      if (setOf(report) !== set || ids.length === 0) return []
      const rows = found(stepOf.get(report)).get(set.table)!
      return ids.map(id => rows.get(id)!)
    })

  const reads = tables.map((table): CommitEntry => ({
    derive(outcomes) {
      const found = foundRows(outcomes)
      const rows = changed.filter(set => set.table === table).flatMap(set => rowsOf(set, found, outcomes))
      return readRows(table, rows.filter(({ after }) => !after), call)
    },
  }))
  return [...reads, ...requested.map((request): CommitEntry => 'build' in request
    ? request
    : { derive: outcomes => insertRows(request, rowsOf(request.set, foundRows(outcomes), outcomes), call) })]
}

/** `select … from t where id in (…)`: reads rows after the change, if the statement that changed them did not return them. */
function readRows(changed: ChangedTable, rows: readonly FoundRow[], call: Call): WriteStatement[] {
  const { engine } = call
  const { table, primaryKey } = changed
  const columns = reportedColumns(call, changed)
  // The list repeats the keys for a comparison by bytes.
  const copies = primaryKey.some(({ bytes }) => bytes) ? 2 : 1
  const size = Math.floor(engine.maxParameters / Math.max(1, copies * primaryKey.length))
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index): WriteStatement => {
    const byKeys = inTuples(engine, primaryKey, rows.slice(index * size, (index + 1) * size).map(({ key }) => key))
    const select = statement(call, where`select ${selectList(columns)} from ${table} where ${byKeys}`)
    return { ...select, returnsRows: true }
  })
}
