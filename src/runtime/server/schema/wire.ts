/** The form of a column's values in JSON and in query strings. */
import type { Kind, WireFormat } from '../../shared/wire'

export interface Wire extends WireFormat {
  /** The kind of the JSON values. It differs from the kind of the column where the database stores other values than clients see. */
  readonly kind: Kind
  /** What JSON cannot represent, such as `Set`. A registered column needs an option in this case. */
  readonly missing?: string
}
