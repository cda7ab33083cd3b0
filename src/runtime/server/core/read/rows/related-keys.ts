/** The columns that find the related rows of a row. */
import type { Field } from '../../../schema/field'
import type { Scoped } from '../../access/row-scope'
import type { ReadPlan } from '../../plan/read-plan'

/** Returns the columns that includes and counts refer to and, for counts, the key of the row. */
export function relatedKeys({ resource, include, counts = [] }: Scoped<ReadPlan>): readonly Field[] {
  const keys = [...include, ...counts].flatMap(({ relation }) => relation.columns)
  return counts.length === 0 ? keys : [...keys, ...resource.primaryKey]
}
