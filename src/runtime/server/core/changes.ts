/** The changes of a commit, in the form that commit listeners receive. */
import type { AutoApiContext } from '../registration'

export const CHANGE_KINDS = Object.freeze(['create', 'update', 'delete', 'restore', 'purge', 'link', 'unlink'] as const)

/** One changed row. */
export interface Change {
  /** The registered resource. It is absent if the table is not registered. */
  readonly resource?: string
  /** The table's name in the database. */
  readonly table: string
  readonly kind: typeof CHANGE_KINDS[number]
  /** The row's id, as the API returns it. The id of a composite key contains its values, separated by `,`. */
  readonly id: string
  /** The change is a cascade from another row. The request did not name this row. */
  readonly cascaded?: true
}

export type CommitListener = (changes: readonly Change[], ctx: AutoApiContext) => unknown
