/** Builds column names for the statements of a commit. */
import { sql } from 'drizzle-orm'
import type { Field } from '../../schema/field'
import type { Call } from '../request/session'

/** Returns the column's name without its table, for the left side of an assignment and for the column list of an insert. */
export const columnName = (engine: Call['engine'], { column }: Pick<Field, 'column'>): Name => sql.identifier(engine.columnName(column))

type Name = ReturnType<typeof sql.identifier>
