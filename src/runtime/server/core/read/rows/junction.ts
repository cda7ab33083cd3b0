/** Joins a junction table with the table that it references. */
import type { Field } from '../../../schema/field'
import { sameBytes } from '../../sql/conditions'
import { joined, type Where } from '../../sql/where'
import type { ManyToMany } from '../../../schema/model'

/** `junction.tag_id = tags.id and …` */
export function joinCondition(columns: readonly Field[], foreign: readonly Field[]): Where {
  return joined(columns.map(({ column, bytes }, index) => sameBytes(column, foreign[index]!.column, bytes)), ' and ')
}

export const junctionFields = ({ junction: { resource } }: ManyToMany, names: readonly string[]) =>
  names.map(name => resource.fields.get(name)!)
