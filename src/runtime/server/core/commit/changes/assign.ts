/** Assigns each changed row to one report, because several operations of a commit can change the same row. */
import type { Table } from 'drizzle-orm'
import type { Outcome } from '../../../engines/engine'
import type { Change } from '../../extensions/changes'
import { reportedIds, type ChangeReport, type ReportingOperation } from './report'

/** The ids of the rows of each report. */
export type AssignedRows = ReadonlyMap<ChangeReport, readonly string[]>

/**
 * A row belongs to the report of a row that the request names, otherwise to the last report. For example, a purge of a cycle clears the
 * reference of a row, then removes the row as a dependent, although the request names it.
 */
export function assignRows(operations: readonly ReportingOperation[], outcomes: readonly Outcome[]): AssignedRows {
  const reports = operations.flatMap(({ changes }, index) => changes ? [{ changes, ids: reportedIds(changes, outcomes[index]!) }] : [])
  const owners = new Map<Table, Map<string, ChangeReport>>()
  for (const { changes, ids } of reports) {
    const { table } = changes.table
    let rows = owners.get(table)
    if (!rows) owners.set(table, rows = new Map())
    for (const id of ids) if (replaces(changes, rows.get(id))) rows.set(id, changes)
  }
  return new Map(reports.map(({ changes, ids }) =>
    [changes, [...new Set(ids)].filter(id => owners.get(changes.table.table)!.get(id) === changes)]))
}

function replaces({ kind, cascaded }: ChangeReport, owner: ChangeReport | undefined): boolean {
  return owner === undefined || owner.cascaded === true || (!cascaded && kind !== owner.kind)
}

export function toChanges(assigned: AssignedRows): readonly Change[] {
  return [...assigned].flatMap(([{ table, kind, cascaded }, ids]) => ids.map((id): Change => ({
    ...table.resource !== undefined && { resource: table.resource },
    table: table.name,
    kind,
    id,
    ...cascaded && { cascaded },
  })))
}
