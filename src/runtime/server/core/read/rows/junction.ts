/** Joins a junction table with the table that it references. */
import { sql, type SQL } from 'drizzle-orm'
import type { Field } from '../../../schema/field'
import { sameBytes } from '../../sql/clause'
import type { ManyToMany } from '../../../schema/model'

/** `junction.tag_id = tags.id and …` */
export function joinCondition(columns: readonly Field[], foreign: readonly Field[]): SQL {
  return sql.join(columns.map(({ column, bytes }, index) => sameBytes(column, foreign[index]!.column, bytes)), sql` and `)
}

export const junctionFields = ({ junction: { resource } }: ManyToMany, names: readonly string[]) =>
  names.map(name => resource.fields.get(name)!)
