/** The condition that joins two tables by the columns of a key. */
import type { Field } from '../../schema/field'
import { sameBytes } from './conditions'
import { joined, type Where } from './where'

/** `junction.tag_id = tags.id and …` */
export function joinCondition(columns: readonly Field[], foreign: readonly Field[]): Where {
  return joined(columns.map(({ column, bytes }, index) => sameBytes(column, foreign[index]!.column, bytes)), ' and ')
}
