/** A read as data: what is shown of which rows in which order, and what hangs on them. */
import type { Relation } from '../../schema/model'
import type { Selection } from '../access/fields'
import type { Clause } from '../sql/clause'
import type { Plan } from '../access/row-scope'
import type { Order } from '../sql/keyset'
import type { Search } from './search'

export interface ReadPlan extends Plan {
  /** What the answer shows. */
  readonly selection: Selection
  readonly where: readonly Clause[]
  readonly order: readonly Order[]
  /** Rows at most; absent: all that match. */
  readonly limit?: number
  readonly offset?: number
  /** Also count every row that matches. */
  readonly count: boolean
  readonly include: readonly IncludePlan[]
  /** What the filter searches for in text. */
  readonly search?: Search
}

export interface IncludePlan {
  readonly relation: Relation
  readonly plan: ReadPlan
  /** The junction's own rows, where it is a registered resource. */
  readonly through?: Plan
  /** Rows of each parent; absent for to-one. */
  readonly perParent?: number
}
