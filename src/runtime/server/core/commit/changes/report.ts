/** Reports which rows an operation of a commit changes. Listeners and participants of plugins receive these rows. */
import type { Outcome, Row } from '../../../engines/engine'
import { toId, type Key } from '../../../schema/record-id'
import type { Resource } from '../../../schema/model'
import type { Change } from '../../extensions/changes'
import type { Call } from '../../request/session'
import { select, type Selection } from '../../access/fields'
import { keyClauses } from '../../plan/read'
import { valuesAt, type RecordValues } from '../../read/rows/decode'
import { rowsWhere, type AssignedValues, type RowSource } from './source'
import { changedTable, type ChangedTable } from './table'
import { isWatched, isWatching } from './watching'

export interface ChangeReport {
  readonly table: ChangedTable
  readonly kind: Change['kind']
  readonly cascaded?: true
  readonly nested?: true
  readonly relation?: Change['relation']
  /** The keys of the rows, if the request names them. Otherwise, the operation returns the rows. */
  readonly keys?: readonly Key[]
  /** The columns of the rows that the operation returns. */
  readonly columns?: Selection
  /** Whether the operation returns the rows as they are before or after the change. */
  readonly state?: 'before' | 'after'
  /** The ids of returned rows that another operation reports. */
  readonly except?: ReadonlySet<string>
  /** Selects the rows in SQL, for engines that cannot use the rows that the operation returns. */
  readonly source?: RowSource
  readonly assigned?: AssignedValues
}

/** Reads rows before the commit changes them. Another operation reports the rows. */
export interface Snapshot {
  readonly table: ChangedTable
  readonly columns: Selection
  readonly source: RowSource
}

export interface ReportingOperation {
  /** The step of a batch. Each step reports what it changes, also if another one changes the same row. */
  readonly step?: number
  readonly changes?: ChangeReport
  readonly snapshot?: Snapshot
}

/** Whether a plugin receives the changes of a commit. */
export const hasListeners = (call: Call) => {
  const { onCommit, inCommit } = call.api.listeners
  return onCommit.length + inCommit.length > 0 || isWatching(call)
}

/** Whether a plugin takes part in commits. */
export const hasParticipants = ({ api: { listeners } }: Call) => listeners.inCommit.length > 0

/** Whether a plugin needs the changed rows as they are stored. */
export const needsImages = ({ api: { listeners } }: Call) => listeners.inCommit.some(({ images }) => images)

/** Whether statements of plugins read changed rows in SQL, because code cannot use the rows that the operations return. */
export const needsSources = (call: Call) => hasParticipants(call) && !call.engine.supportsFollowUp

/** Returns the columns that an operation reads of rows that it reports. */
export function reportedColumns(call: Call, table: ChangedTable): Selection {
  if (!call.engine.supportsFollowUp) return table.key
  if (needsImages(call) || isWatched(call, table)) return table.row
  return hasParticipants(call) ? table.identity : table.key
}

/** Adds the columns that plugins need to the columns that an operation returns. */
export function withReported(call: Call, resource: Resource, selection: Selection): Selection {
  const table = changedTable(call, resource)
  if (needsSources(call) || !(hasParticipants(call) || isWatched(call, table))) return selection
  const reported = reportedColumns(call, table)
  if (reported.fields.every(({ name }) => selection.byName.has(name))) return selection
  return select(resource, ({ name }) => selection.byName.has(name) || reported.byName.has(name))
}

/**
 * Reports a row that the request names.
 * @param columns the columns that the operation returns after the change
 * @param values the values that the operation sets
 */
export function reportKey(
  call: Call,
  resource: Resource,
  kind: Change['kind'],
  key: Key,
  columns: Selection,
  values: RecordValues,
): ChangeReport {
  const table = changedTable(call, resource)
  return {
    table, kind, keys: [key], columns, state: 'after',
    ...needsSources(call) && { source: rowsWhere(table, keyClauses(resource, key)), assigned: assignedValues(resource, values) },
  }
}

function assignedValues({ fields }: Resource, values: RecordValues): AssignedValues {
  return new Map(Object.entries(values).flatMap(([name, value]) => {
    const field = fields.get(name)
    return field ? [[field, field.encode(value)] as const] : []
  }))
}

/** Reports the rows that the operation returns. */
export function reportRows(
  call: Call,
  resource: Resource,
  kind: Change['kind'],
  columns: Selection,
  state: 'before' | 'after',
  source?: () => RowSource,
): ChangeReport {
  return { table: changedTable(call, resource), kind, columns, state, ...source && needsSources(call) && { source: source() } }
}

export interface ReportedRow {
  readonly id: string
  readonly row: Row
}

/** Returns the ids of rows that an operation returned. */
export function findRows({ primaryKey }: ChangedTable, columns: Selection, { rows }: Outcome): readonly ReportedRow[] {
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
