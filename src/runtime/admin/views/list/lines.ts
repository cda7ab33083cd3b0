/** The rows of a list as its table shows them. */
import type { Row } from '../../../app/any-resource'
import type { RecordId } from '../../../shared/types/resources'
import { withCounts } from '../../model/columns'
import { idOfRow, labelOf } from '../../model/records'
import type { DescribedResource } from '../../model/schema'

export interface Line {
  /** With the numbers of related records by the names of their columns. */
  readonly row: Row
  /** `undefined` if the caller cannot read the key. The row then has no actions. */
  readonly id: RecordId | undefined
  readonly key: string | number
  readonly label: string
}

export const toLines = (described: DescribedResource, rows: readonly Row[]): Line[] => rows.map((row, index) => {
  const id = idOfRow(described, row)
  return { row: withCounts(row), id, key: id ?? `row-${index}`, label: labelOf(described, row) }
})

/** Whether a row has nothing to show in a column. On a phone, such values take no place. */
export const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0)
