/** Builds column names and lists for the statements of a commit. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Field } from '../../schema/field'
import type { Call } from '../request/session'

/** Returns the column's name without its table, for the left side of an assignment and for the column list of an insert. */
export function columnName(engine: Call['engine'], field: Field): SQL {
  return sql`${sql.identifier(engine.columnName(field.column))}`
}

export const columnsOf = (fields: readonly Field[]): readonly Column[] => fields.map(({ column }) => column)

export const commaList = (parts: readonly SQL[]) => sql.join([...parts], sql`, `)
