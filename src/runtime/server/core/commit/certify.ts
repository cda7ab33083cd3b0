/**
 * Lets locked rows take part in the certification of a Galera cluster. A lock holds on one node only. A commit on another node can delete
 * the row at the same time, and both succeed if the commit that holds the lock only reads the row. Of two commits that write the same row
 * on two nodes, one fails, and the engine repeats it.
 */
import { sqlTypeOf } from '../../drizzle/index'
import type { Row, Statement, WriteStatement } from '../../engines/engine'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import { inTuples } from '../sql/list/index'
import { valuesAt } from '../read/rows/decode'
import { columnName } from './columns'
import { boundValue, equals, isNull, whereClause } from '../sql/conditions'
import { statement } from '../sql/parameterize'
import { commaList, where, type Where } from '../sql/where'

/**
 * Adds writes to a statement that locks rows of a resource with a trash and returns their keys. The writes set the `deletionId`, and clear
 * it again. Nobody sees a row in between. Other resources have no column that the API could write. Their rows can only be removed, and
 * then the foreign keys of the database fail one of the two commits.
 */
export function certified<Lock extends WriteStatement>(call: Call, resource: Resource, lock: Lock): Lock {
  const { deletionId } = resource.roles
  if (!call.engine.adapter.cluster || !deletionId) return lock
  return { ...lock, certify: (rows: readonly Row[]) => rows.length > 0 ? touch(call, resource, deletionId, rows) : [] }
}

/**
 * `update t set deletion_id = ?, updated_at = updated_at where id in (…) and deletion_id is null`, then
 * `update t set deletion_id = null, updated_at = updated_at where id in (…) and deletion_id = ?`. Columns with `on update` keep theirs.
 */
function touch(call: Call, resource: Resource, deletionId: Field, rows: readonly Row[]): readonly Statement[] {
  const keys = inTuples(call.engine, resource.primaryKey, rows.map(valuesAt(keyFields(resource), resource.primaryKey)))
  const id = crypto.randomUUID()
  return [
    setStatement(call, resource, deletionId, id, [keys, isNull(deletionId)]),
    setStatement(call, resource, deletionId, null, [keys, equals(deletionId, id)]),
  ]
}

function setStatement(call: Call, resource: Resource, deletionId: Field, id: string | null, conditions: readonly Where[]): Statement {
  const nameOf = (field: Field) => columnName(call.engine, field)
  const kept = timesOf(resource).map(field => where`${nameOf(field)} = ${nameOf(field)}`)
  const assignments = commaList([where`${nameOf(deletionId)} = ${boundValue(deletionId, id)}`, ...kept])
  return statement(call, where`update ${resource.table} set ${assignments}${whereClause(conditions)}`)
}

const timesOf = ({ fields }: Resource) =>
  [...fields.values()].filter(({ generated, column }) => !generated && /^(?:timestamp|datetime)/i.test(sqlTypeOf(column)))
