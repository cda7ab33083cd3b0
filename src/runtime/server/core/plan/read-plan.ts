/** The plan of a read: columns, conditions, order, page and includes. */
import type { Relation } from '../../schema/model'
import type { Selection } from '../access/fields'
import type { Clause } from '../sql/clause'
import type { Plan } from '../access/row-scope'
import type { Order } from '../sql/keyset'
import type { Search } from './search'

export interface ReadPlan extends Plan {
  /** The columns of the response. */
  readonly selection: Selection
  readonly where: readonly Clause[]
  readonly order: readonly Order[]
  /** The maximum number of rows; absent: all that match. */
  readonly limit?: number
  readonly offset?: number
  /** Also counts the rows that match. */
  readonly count: boolean
  readonly include: readonly IncludePlan[]
  /** The text search of the filter. */
  readonly search?: Search
}

export interface IncludePlan {
  readonly relation: Relation
  readonly plan: ReadPlan
  /** The rows of the junction. */
  readonly through?: Plan
  /** The maximum number of rows per parent; absent for to-one. */
  readonly perParent?: number
}
