/** Builds the statement of a delete. Its WHERE contains the row scope, so that a row cannot leave the scope between check and write. */
import type { WriteStatement } from '../../engines/engine'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { whereClause } from '../sql/conditions'
import { where, type Where } from '../sql/where'
import { statement } from '../sql/parameterize'

/** `delete from t where …`. It must delete exactly one row, unless the caller overrides `expectedRows`. */
export function deleteStatement(call: Call, resource: Resource, conditions: readonly Where[]): WriteStatement {
  return { ...statement(call, where`delete from ${resource.table}${whereClause(conditions)}`), expectedRows: 1, atomic: true }
}
