/** Creates the fields of a table. */
import type { TableFacts } from './drizzle/table'
import { createField, type Field } from './field'
import { columnSchemas } from './validation'

export function createFields({ table, columns }: TableFacts): ReadonlyMap<string, Field> {
  const schemas = columnSchemas(table, columns)
  return new Map(columns.map((column, index) => [column.name, createField(column, index, schemas[column.name]!)]))
}
