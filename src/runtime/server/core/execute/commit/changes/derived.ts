/** Creates the statements of plugins from the rows that the commit changed. For engines that can use the outcomes of a commit. */
import { sql } from 'drizzle-orm'
import type { CommitEntry, Outcome, WriteStatement } from '../../../../engines/engine'
import type { Call } from '../../../context'
import { statement } from '../../../sql/clause'
import { inTuples } from '../../../sql/list/index'
import { shape } from '../../../sql/shape'
import { selectList } from '../../rows/select'
import { assignRows, type AssignedRows } from './assign'
import type { ChangeSet, FindSet, RequestedStatement } from './changed-rows'
import { createCollector, type FoundRow, type FoundRows } from './found-rows'
import { isRemovedRow } from './image'
import { insertRows } from './insert-rows'
import { needsImages, reportedColumns, type ReportingOperation } from './report'
import type { ChangedTable } from './table'

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

  const collect = (outcomes: readonly Outcome[]) => {
    const collector = createCollector(call)
    operations.forEach((operation, index) => collector.addOperation(operation, outcomes[index]!))
    tables.slice(0, outcomes.length - operations.length).forEach((table, index) =>
      collector.addRows(table, reportedColumns(call, table), outcomes[operations.length + index]!, 'after'))
    return collector.rows
  }

  const assigned = new WeakMap<readonly Outcome[], AssignedRows>()
  const assignedRows = (outcomes: readonly Outcome[]) => {
    let rows = assigned.get(outcomes)
    if (!rows) assigned.set(outcomes, rows = assignRows(operations, outcomes))
    return rows
  }

  const rowsOf = (set: ChangeSet, found: FoundRows, outcomes: readonly Outcome[]): readonly FoundRow[] => {
    const ids = [...assignedRows(outcomes)].flatMap(([report, ids]) => setOf(report) === set ? ids : [])
    return ids.map(id => found.get(set.table)!.get(id)!)
  }

  // All insertions of one attempt of the commit use the same rows. Each attempt has its own list of outcomes.
  const cache = new WeakMap<readonly Outcome[], FoundRows>()
  const foundRows = (outcomes: readonly Outcome[]) => {
    let found = cache.get(outcomes)
    if (!found) cache.set(outcomes, found = collect(outcomes))
    return found
  }

  const reads = tables.map((table): CommitEntry => ({
    derive(outcomes) {
      const found = collect(outcomes)
      const rows = changed.filter(set => set.table === table).flatMap(set => rowsOf(set, found, outcomes))
      return readRows(table, rows.filter(({ after }) => !after), call)
    },
  }))
  return [...reads, ...requested.map((request): CommitEntry => 'build' in request
    ? request
    : { derive: outcomes => insertRows(request, rowsOf(request.set, foundRows(outcomes), outcomes), call) })]
}

const ROWS_PER_STATEMENT = 1000

/** `select … from t where id in (…)`: reads rows after the change, if the statement that changed them did not return them. */
function readRows(changed: ChangedTable, rows: readonly FoundRow[], call: Call): WriteStatement[] {
  const { api, engine } = call
  const { table, primaryKey } = changed
  const columns = reportedColumns(call, changed)
  const size = Math.min(ROWS_PER_STATEMENT, Math.floor(engine.maxParameters / Math.max(1, 2 * primaryKey.length)))
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index): WriteStatement => {
    const where = inTuples(engine, primaryKey, rows.slice(index * size, (index + 1) * size).map(({ key }) => key))
    const select = statement(api.statements, engine, shape`changed rows ${columns.key}${where.shape}`, where.values, () => ({
      sql: sql`select ${selectList(columns)} from ${table} where ${where.build()}`,
      extra: undefined,
    }))
    return { ...select, returnsRows: true }
  })
}
