/** Finds the rows that the operations of a commit changed, in the outcomes of these operations. */
import type { Outcome, Row } from '../../../engines/engine'
import type { Selection } from '../../access/fields'
import type { Call } from '../../request/session'
import { valuesAt } from '../../read/rows/decode'
import { findRows, reportedColumns, reportedIds, type ReportingOperation } from './report'
import type { ChangedTable } from './table'

/** A changed row. `before` and `after` have the columns of {@link reportedColumns}. */
export interface FoundRow {
  readonly id: string
  /** The driver values of the primary key. */
  readonly key: readonly unknown[]
  before?: Row
  after?: Row
}

export type FoundRows = ReadonlyMap<ChangedTable, ReadonlyMap<string, FoundRow>>

type State = 'before' | 'after'

/** Collects rows, each once. The first row of `before` and the last row of `after` are kept. */
export function createCollector(call: Call) {
  const tables = new Map<ChangedTable, Map<string, FoundRow>>()

  function rowOf(table: ChangedTable, id: string, key: () => readonly unknown[]): FoundRow {
    let rows = tables.get(table)
    if (!rows) tables.set(table, rows = new Map())
    let row = rows.get(id)
    if (!row) rows.set(id, row = { id, key: key() })
    return row
  }

  function addRows(table: ChangedTable, columns: Selection, outcome: Outcome, state: State): void {
    const reported = reportedColumns(call, table)
    const read = columns === reported ? (row: Row) => row : valuesAt(columns, reported.fields)
    const keyOf = valuesAt(columns, table.primaryKey)
    for (const { id, row } of findRows(table, columns, outcome)) {
      const found = rowOf(table, id, () => keyOf(row))
      if (state === 'after') found.after = read(row)
      else found.before ??= read(row)
    }
  }

  function addOperation({ snapshot, changes }: ReportingOperation, outcome: Outcome): void {
    if (snapshot) addRows(snapshot.table, snapshot.columns, outcome, 'before')
    if (changes?.columns) addRows(changes.table, changes.columns, outcome, changes.state!)
    const { table, keys = [] } = changes ?? {}
    if (!table || keys.length === 0) return
    reportedIds(changes!, outcome).forEach((id, index) =>
      rowOf(table, id, () => keys[index]!.map((value, place) => table.primaryKey[place]!.encode(value))))
  }

  /** Adds the rows as they are at the end of the commit, to those whose state after the change no operation has returned. */
  function addFinal(table: ChangedTable, columns: Selection, outcome: Outcome): void {
    const found = tables.get(table)
    for (const { id, row } of found ? findRows(table, columns, outcome) : []) {
      const target = found!.get(id)
      if (target) target.after ??= row
    }
  }

  return { rows: tables as FoundRows, addFinal, addOperation }
}

export type Collector = ReturnType<typeof createCollector>
