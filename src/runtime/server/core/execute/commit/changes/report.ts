/** Reports which rows an operation of a commit changes. Listeners and participants of plugins receive these rows. */
import type { Outcome, Row } from '../../../../engines/engine'
import { toId, type Key } from '../../../../schema/record-id'
import type { Resource } from '../../../../schema/model'
import type { Change } from '../../../changes'
import type { Call } from '../../../context'
import { select, type Selection } from '../../../access/fields'
import { valuesAt } from '../../rows/decode'
import { changedTable, type ChangedTable } from './table'

export interface ChangeReport {
  readonly table: ChangedTable
  readonly kind: Change['kind']
  readonly cascaded?: true
  /** The keys of the rows, if the request names them. Otherwise, the operation returns the rows. */
  readonly keys?: readonly Key[]
  /** The columns of the rows that the operation returns. */
  readonly columns?: Selection
  /** Whether the operation returns the rows as they are before or after the change. */
  readonly state?: 'before' | 'after'
  /** The ids of returned rows that another operation reports. */
  readonly except?: ReadonlySet<string>
}

/** Reads rows before the commit changes them. Another operation reports the rows. */
export interface Snapshot {
  readonly table: ChangedTable
  readonly columns: Selection
}

export interface ReportingOperation {
  readonly changes?: ChangeReport
  readonly snapshot?: Snapshot
}

export const hasListeners = ({ api: { listeners } }: Call) => listeners.onCommit.length + listeners.inCommit.length > 0

/** Whether a plugin takes part in commits. */
export const hasParticipants = ({ api: { listeners } }: Call) => listeners.inCommit.length > 0

/** Whether a plugin needs the changed rows as they are stored. */
export const needsImages = ({ api: { listeners } }: Call) => listeners.inCommit.some(({ images }) => images)

/** Returns the columns that an operation reads of rows that it reports. */
export function reportedColumns(call: Call, table: ChangedTable): Selection {
  return needsImages(call) ? table.row : hasParticipants(call) ? table.identity : table.key
}

/** Adds the columns that participants need to the columns that an operation returns. */
export function withReported(call: Call, resource: Resource, selection: Selection): Selection {
  if (!hasParticipants(call)) return selection
  const reported = reportedColumns(call, changedTable(call, resource))
  return select(resource, ({ name }) => selection.byName.has(name) || reported.byName.has(name))
}

/** Reports a row that the request names. `columns` are those that the operation returns after the change. */
export function reportKey(call: Call, resource: Resource, kind: Change['kind'], key: Key, columns?: Selection): ChangeReport {
  return { table: changedTable(call, resource), kind, keys: [key], ...columns && { columns, state: 'after' } }
}

/** Reports the rows that the operation returns. */
export function reportRows(
  call: Call,
  resource: Resource,
  kind: Change['kind'],
  columns: Selection,
  state: 'before' | 'after',
): ChangeReport {
  return { table: changedTable(call, resource), kind, columns, state }
}

export interface FoundRow {
  readonly id: string
  readonly row: Row
}

/** Returns the ids of rows that an operation returned. */
export function findRows({ primaryKey }: ChangedTable, columns: Selection, { rows }: Outcome): readonly FoundRow[] {
  const keyOf = valuesAt(columns, primaryKey)
  return rows.map((row) => {
    const key = keyOf(row).map((value, index) => primaryKey[index]!.decode?.(value) ?? value)
    return { id: toId({ primaryKey }, key), row }
  })
}

/** Returns the ids of the rows that an operation changed. */
export function reportedIds({ table, keys, columns, except }: ChangeReport, outcome: Outcome): readonly string[] {
  if (keys) return keys.map(key => toId(table, key))
  return findRows(table, columns!, outcome).map(({ id }) => id).filter(id => !except?.has(id))
}

export function toChanges(report: ChangeReport, outcome: Outcome): readonly Change[] {
  const { table, kind, cascaded } = report
  return reportedIds(report, outcome).map((id): Change => ({
    ...table.resource !== undefined && { resource: table.resource },
    table: table.name,
    kind,
    id,
    ...cascaded && { cascaded },
  }))
}
