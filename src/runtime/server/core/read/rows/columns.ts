/** The rows of a read, and the columns that it selects. */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import { allFieldsAnd, select, type Selection } from '../../access/fields'
import type { Scoped } from '../../access/row-scope'
import type { ReadPlan } from '../../plan/read-plan'
import type { Join } from './join'
import { orderFields } from './position'
import { relatedKeys } from './related-keys'

/** Rows as arrays of values, with the field of each position. */
export interface Rows {
  readonly rows: readonly Row[]
  readonly columns: Selection
  /** Joined includes. Their columns follow `columns` in each row. */
  readonly joins?: readonly Join[]
}

/** The columns that a read needs besides those of the response. */
interface WantedColumns {
  /** Whether the read needs the columns of a cursor. */
  readonly cursor?: boolean
  readonly extraColumns?: readonly Field[]
}

/** Returns the columns to read: those of the response, the keys of the includes and counts, and the columns of the cursor. */
export function columnsOf(plan: Scoped<ReadPlan>, { cursor = false, extraColumns = [] }: WantedColumns): Selection {
  if (plan.accepts) {
    // A scan reads the columns of the cursor in any case.
    return allFieldsAnd(plan.resource, [...plan.selection.fields, ...extraColumns, ...orderFields(plan.order)])
  }
  const needsNoMore = plan.include.length === 0 && !plan.counts && extraColumns.length === 0 && !(cursor && plan.order.length > 0)
  if (needsNoMore) return plan.selection
  const extra = [...relatedKeys(plan), ...extraColumns, ...cursor ? orderFields(plan.order) : []]
  return extra.length === 0
    ? plan.selection
    : select(plan.resource, field => plan.selection.byName.has(field.name) || extra.includes(field))
}
