/** Builds the condition of `$like` for each dialect. */
import type { Column } from 'drizzle-orm'
import type { Dialect } from '../../../../shared/dialects'
import type { DialectAdapter } from '../../../engines/dialects/adapter'
import type { Engine } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import { memoizedPair } from '../../memoized'
import { template } from '../parameterize'
import { value, type Where } from '../where'
import { sqliteLike } from './sqlite'

type Like = (engine: Engine, field: Field, pattern: string, parameter: string) => Where

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

function plainLike({ adapter }: Engine, { column }: Field, pattern: string): Where {
  return likeOf(adapter, column)(value(pattern))
}

const likeOf = memoizedPair(({ like }: DialectAdapter, column: Column) => template(pattern => like(column, pattern)))
