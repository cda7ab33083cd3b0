/** Builds the statement of an update. Its WHERE contains the row scope, so that a row cannot leave the scope between check and write. */
import { sql } from 'drizzle-orm'
import { shape } from '../sql/shape'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import type { Selection } from '../access/fields'
import { boundValue, shapeOf, statement, valuesOf, whereClause, type Clause } from '../sql/clause'
import { decoder } from '../read/rows/decode'
import { selectList } from '../read/rows/select'
import { columnName, columnsOf, commaList } from './columns'
import { selectStatement, type Returning } from './select'

/**
 * `update t set a = ? where … returning …`. It must update exactly one row, unless the caller overrides `expectedRows`.
 * @param keys the conditions that find the updated row. An engine without RETURNING reads the row back with them.
 */
export function updateStatement(
  call: Call,
  resource: Resource,
  values: Readonly<Record<string, unknown>>,
  where: readonly Clause[],
  selection: Selection,
  keys?: readonly Clause[],
): Returning {
  const { api, engine } = call
  const { returning } = engine.adapter
  const fields = [...resource.fields.values()].filter(field => Object.hasOwn(values, field.name))
  const parameters = fields.map(field => boundValue(engine, field, values[field.name]))
  const key = shape`update ${selection.key}${columnsOf(fields)}${shapeOf(parameters)}${shapeOf(where)}`
  const compiled = statement(api.statements, engine, key, [...valuesOf(parameters), ...valuesOf(where)], () => {
    const assignments = commaList(fields.map((field, index) => sql`${columnName(engine, field)} = ${parameters[index]!.build()}`))
    const readBack = returning ? sql` returning ${selectList(selection)}` : sql``
    return { sql: sql`update ${resource.table} set ${assignments}${whereClause(where)}${readBack}`, extra: decoder(selection) }
  })
  if (returning) return { ...compiled, returnsRows: true, expectedRows: 1, atomic: true }
  return {
    ...compiled,
    expectedRows: 1,
    atomic: true,
    ...(keys && { returnsRows: true, readBack: () => selectStatement(call, resource, keys, selection) }),
  }
}
