/** Creates the fields of a table. */
import type { ResourceWire } from '../registration'
import type { TableFacts } from './drizzle/table'
import { createField, type Field } from './field'
import { columnSchemas } from './validation'

export function createFields({ table, columns, primaryKey }: TableFacts, wire: ResourceWire = {}): ReadonlyMap<string, Field> {
  const schemaOf = columnSchemas(table, columns)
  const isKey = (name: string) => primaryKey.length === 1 && primaryKey[0] === name
  return new Map(columns.map((column, index) => {
    const { name } = column
    return [name, createField(column, index, () => schemaOf(name), isKey(name), wire[name])]
  }))
}
