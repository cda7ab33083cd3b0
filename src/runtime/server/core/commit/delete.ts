/** Builds the statement of a delete. Its WHERE contains the row scope, so that a row cannot leave the scope between check and write. */
import { sql } from 'drizzle-orm'
import type { WriteStatement } from '../../engines/engine'
import { shape } from '../sql/shape'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { shapeOf, statement, valuesOf, whereClause, type Clause } from '../sql/clause'

/** `delete from t where …`. It must delete exactly one row, unless the caller overrides `expectedRows`. */
export function deleteStatement({ api, engine }: Call, resource: Resource, where: readonly Clause[]): WriteStatement {
  const compiled = statement(api.statements, engine, shape`delete ${resource}${shapeOf(where)}`, valuesOf(where), () => ({
    sql: sql`delete from ${resource.table}${whereClause(where)}`,
    extra: undefined,
  }))
  return { ...compiled, expectedRows: 1, atomic: true }
}
