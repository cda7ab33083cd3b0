/** Builds the condition of `$like` for each dialect. */
import { sql } from 'drizzle-orm'
import type { Dialect } from '../../../../shared/dialects'
import type { Engine } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Clause } from '../clause'
import { shape } from '../shape'
import { sqliteLike } from './sqlite'

type Like = (engine: Engine, field: Field, pattern: string, parameter: string) => Clause

const LIKES: Readonly<Record<Dialect, Like>> = {
  sqlite: ({ limits }, field, pattern, parameter) => sqliteLike(field, pattern, limits?.pattern, parameter),
  pg: plainLike,
  mysql: plainLike,
}

/**
 * @param parameter the query parameter that an error names
 * @throws `LIMIT_EXCEEDED` for a pattern that is too long for the engine
 */
export const like: Like = (engine, field, pattern, parameter) => LIKES[engine.dialect](engine, field, pattern, parameter)

function plainLike({ adapter }: Engine, { column }: Field, pattern: string): Clause {
  return { shape: shape`${column} like`, values: [pattern], build: () => adapter.like(column, sql`${sql.param(pattern)}`) }
}
