/** Assigns each changed row to one report, because several operations of a write can change the same row. */
import type { Table } from 'drizzle-orm'
import type { Outcome } from '../../../engines/engine'
import type { Change } from '../../extensions/changes'
import { reportedIds, type ChangeReport, type ReportingOperation } from './report'

/** The ids of the rows of each report. */
export type AssignedRows = ReadonlyMap<ChangeReport, readonly string[]>

/**
 * Within a step, a row belongs to the report of a row that the request names, otherwise to the last report. For example, a purge of a cycle
 * clears the reference of a row, then removes the row as a dependent, although the request names it.
 */
export function assignRows(operations: readonly ReportingOperation[], outcomes: readonly Outcome[]): AssignedRows {
  const reports = operations.flatMap(({ changes, step }, index) =>
    changes ? [{ changes, step, ids: reportedIds(changes, outcomes[index]!) }] : [])
  const owners = new Map<number | undefined, Map<Table, Map<string, ChangeReport>>>()
  for (const { changes, step, ids } of reports) {
    const rows = ownersIn(owners, step, changes.table.table)
    for (const id of ids) if (replaces(changes, rows.get(id))) rows.set(id, changes)
  }
  return new Map(reports.map(({ changes, step, ids }) => {
    const rows = ownersIn(owners, step, changes.table.table)
    return [changes, [...new Set(ids)].filter(id => rows.get(id) === changes)]
  }))
}

function ownersIn(
  owners: Map<number | undefined, Map<Table, Map<string, ChangeReport>>>, step: number | undefined, table: Table,
): Map<string, ChangeReport> {
  let tables = owners.get(step)
  if (!tables) owners.set(step, tables = new Map())
  let rows = tables.get(table)
  if (!rows) tables.set(table, rows = new Map())
  return rows
}

function replaces({ kind, cascaded }: ChangeReport, owner: ChangeReport | undefined): boolean {
  return owner === undefined || owner.cascaded === true || (!cascaded && kind !== owner.kind)
}

export function toChanges(assigned: AssignedRows): readonly Change[] {
  return [...assigned].flatMap(([{ table, kind, cascaded, nested, relation }, ids]) => ids.map((id): Change => ({
    ...table.resource !== undefined && { resource: table.resource },
    table: table.name,
    kind,
    id,
    ...cascaded && { cascaded },
    ...nested && { nested },
    ...relation && { relation },
  })))
}
