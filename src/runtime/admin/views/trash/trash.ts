/** Groups the records of a trash by the deletion that moved them there. */
import type { ColumnRole } from '../../../shared/column-roles'
import type { DescribedResource } from '../../../shared/types/description'
import type { RecordId } from '../../../shared/types/resources'
import type { Row } from '../../../app/any-resource'
import { idOfRow, labelOf } from '../../model/records'

export interface Group {
  readonly key: string
  /** The name of the first record. */
  readonly label: string
  /** The names of the other records of the same deletion. */
  readonly others: readonly string[]
  readonly at?: string
  readonly by?: string
  readonly reason?: string
  /** What a restore or a purge names. */
  readonly target: RecordId | { readonly deletionId: string }
}

/** Returns the column with a role, if the caller can read it. */
export function fieldWithRole({ fields }: Pick<DescribedResource, 'fields'>, role: ColumnRole): string | undefined {
  return Object.keys(fields).find(name => fields[name]!.role === role && fields[name]!.readable)
}

/** The columns beside the name of a record, each with the role of the field that it shows. */
const COLUMNS = [['deleted', 'deletedAt'], ['by', 'deletedBy'], ['reason', 'deletedReason']] as const

/** Returns the columns whose field the caller can read. */
export const columnsOf = (resource: Pick<DescribedResource, 'fields'>) =>
  COLUMNS.flatMap(([name, role]) => fieldWithRole(resource, role) === undefined ? [] : [name])

/** Records without a `deletionId` are groups of one. */
export function toGroups(resource: DescribedResource, rows: readonly Row[]): Group[] {
  const text = (row: Row, role: ColumnRole) => {
    const name = fieldWithRole(resource, role)
    const value = name === undefined ? undefined : row[name]
    return value === null || value === undefined || value === '' ? undefined : String(value)
  }
  const byDeletion = new Map<string, Row[]>()
  for (const [index, row] of rows.entries()) {
    const key = text(row, 'deletionId') ?? `row:${idOfRow(resource, row) ?? index}`
    byDeletion.set(key, [...byDeletion.get(key) ?? [], row])
  }
  return [...byDeletion].map(([key, [row, ...others]]): Group => {
    const deletionId = text(row!, 'deletionId')
    return {
      key,
      label: labelOf(resource, row!),
      others: others.map(other => labelOf(resource, other)),
      at: text(row!, 'deletedAt'), by: text(row!, 'deletedBy'), reason: text(row!, 'deletedReason'),
      // One record is restored with its own dependents; several fell together.
      target: deletionId !== undefined && others.length > 0 ? { deletionId } : idOfRow(resource, row!)!,
    }
  })
}
