/** One record of a write, as the request names and describes it. */
import type { ChildAction, LinkAction } from '../../../shared/nested'
import type { NestedChildren, NestedLinks } from '../../schema/model'
import type { Key } from '../../schema/record-id'
import type { ApiError } from '../error'
import type { LinkMode } from '../access/links'
import type { WriteCondition } from '../sql/condition'
import type { WriteData } from './body'
import type { IfMatch } from './if-match'

export interface WriteItem {
  /** A create has no key. */
  readonly key?: Key
  readonly data?: WriteData
  /** The condition that the row must meet. It is checked before the hooks run, and again by the statement that writes the row. */
  readonly condition?: WriteCondition
  /** The tags of which the record must have one. */
  readonly ifMatch?: IfMatch
  /** The id as the client sent it, for the response. */
  readonly id?: string | number
  /** The children that the body contains. */
  readonly children?: readonly ChildItems[]
  /** The links that the body contains. */
  readonly links?: readonly LinkItems[]
  /** The error that parsing this item threw. */
  readonly error?: ApiError
}

/** The children of one record that one action writes. */
export interface ChildItems {
  readonly nested: NestedChildren
  readonly action: ChildAction
  readonly items: readonly WriteItem[]
}

/** The records that one action links or unlinks. */
export interface LinkItems {
  readonly nested: NestedLinks
  readonly action: LinkAction
  readonly mode: LinkMode
  /** The place of each id in the list of the request. */
  readonly positions: ReadonlyMap<string, number>
}

/** Whether the body contains children or links. */
export const hasNested = ({ children, links }: WriteItem): boolean => children !== undefined || links !== undefined
