/** Describes the foreign keys of a Drizzle table as plain data. */
import type { Table } from 'drizzle-orm'
import { readConfig, propertyName } from './config'

type Action = 'cascade' | 'restrict' | 'no action' | 'set null' | 'set default'

export interface ForeignKeyFacts {
  readonly table: Table
  readonly columns: readonly string[]
  readonly foreignTable: Table
  readonly foreignColumns: readonly string[]
  readonly onDelete: Action
  readonly onUpdate: Action
}

/** Separate from `describeTable`, because a foreign key can reference a table that the file declares later. */
export function describeForeignKeys(table: Table): ForeignKeyFacts[] {
  return readConfig(table).config.foreignKeys.map((key) => {
    const { columns, foreignTable, foreignColumns } = key.reference()
    return Object.freeze({
      table,
      columns: columns.map(column => propertyName(table, column)),
      foreignTable,
      foreignColumns: foreignColumns.map(column => propertyName(foreignTable, column)),
      onDelete: (key.onDelete ?? 'no action') as Action,
      onUpdate: (key.onUpdate ?? 'no action') as Action,
    })
  })
}
