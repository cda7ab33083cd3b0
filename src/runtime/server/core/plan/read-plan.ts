/** The plan of a read: columns, conditions, order, page and includes. */
import type { Relation } from '../../schema/model'
import type { Selection } from '../access/fields'
import type { Plan, PlannedOrder, Search } from '../access/plan'
import type { Where } from '../sql/where'

export interface ReadPlan extends Plan {
  /** The columns of the response. */
  readonly selection: Selection
  readonly where: readonly Where[]
  readonly order: readonly PlannedOrder[]
  /** The maximum number of rows. Without it, the read returns all matching rows. */
  readonly limit?: number
  readonly offset?: number
  /** Whether the response contains the number of all matching rows. */
  readonly count: boolean
  readonly include: readonly IncludePlan[]
  /** The text search of the filter. */
  readonly search?: Search
}

export interface IncludePlan {
  readonly relation: Relation
  readonly plan: ReadPlan
  /** Selects the rows of the junction table. */
  readonly through?: Plan
  /** The maximum number of rows per parent. A to-one relation has none. */
  readonly perParent?: number
}
