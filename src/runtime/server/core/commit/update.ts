/** Builds the statement of an update. Its WHERE contains the row scope, so that a row cannot leave the scope between check and write. */
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import type { Selection } from '../access/fields'
import { decoder } from '../read/rows/decode'
import { selectList } from '../read/rows/select'
import { columnName } from './columns'
import { selectStatement, type Returning } from './select'
import { boundValue, whereClause } from '../sql/conditions'
import { EMPTY, commaList, where, type Where } from '../sql/where'
import { statement } from '../sql/parameterize'

/**
 * `update t set a = ? where … returning …`. It must update exactly one row, unless the caller overrides `expectedRows`.
 * @param keys the conditions that find the updated row. An engine without RETURNING reads the row back with them.
 */
export function updateStatement(
  call: Call,
  resource: Resource,
  values: Readonly<Record<string, unknown>>,
  conditions: readonly Where[],
  selection: Selection,
  keys?: readonly Where[],
): Returning {
  const { returning } = call.engine.adapter
  const fields = [...resource.fields.values()].filter(({ stored, name }) => stored && Object.hasOwn(values, name))
  const assignments = commaList(fields.map(field => where`${columnName(call.engine, field)} = ${boundValue(field, values[field.name])}`))
  const readBack = returning ? where` returning ${selectList(selection)}` : EMPTY
  const text = where`update ${resource.table} set ${assignments}${whereClause(conditions)}${readBack}`
  return {
    ...statement(call, text),
    decode: decoder(selection),
    expectedRows: 1,
    atomic: true,
    ...returning ? { returnsRows: true } : keys && { returnsRows: true, readBack: () => selectStatement(call, resource, keys, selection) },
  }
}
