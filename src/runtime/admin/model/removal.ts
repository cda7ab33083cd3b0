/** What a delete dialog deletes. */
import type { RecordId } from '../../shared/types/resources'

export interface Removal {
  readonly resource: string
  readonly ids: readonly RecordId[]
  /** The name of the record, if it is one. */
  readonly label?: string
}
