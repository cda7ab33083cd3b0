/** The rows that a commit changed, as plugins see them. */
import type { AutoApiContext } from '../registration'

/** One row of a commit. */
export interface Change {
  /** The registered resource; absent for a table that is not registered. */
  readonly resource?: string
  /** The table's name in the database. */
  readonly table: string
  readonly kind: 'create' | 'update' | 'delete' | 'restore' | 'purge' | 'link' | 'unlink'
  /** The row's id, as in its path. */
  readonly id: string
  /** The request did not name the row: it was cascaded from one that the request named. */
  readonly cascaded?: true
}

export type CommitListener = (changes: readonly Change[], ctx: AutoApiContext) => unknown
