/** Describes the foreign keys of a Drizzle table as plain data. */
import type { Table } from 'drizzle-orm'
import { propertyName, readConfig, type TableConfig } from './config'

type Action = 'cascade' | 'restrict' | 'no action' | 'set null' | 'set default'

export interface ForeignKeyFacts {
  readonly table: Table
  readonly columns: readonly string[]
  readonly foreignTable: Table
  readonly foreignColumns: readonly string[]
  readonly onDelete: Action
  readonly onUpdate: Action
}

/** The strictest action first: it applies if a foreign key is declared twice. */
const ACTIONS: readonly Action[] = ['restrict', 'cascade', 'set null', 'set default', 'no action']

/**
 * Returns one entry for each pair of column lists. After `drizzle-kit pull`, a table can declare a key twice, with `.references()` and with
 * `foreignKey()`. Separate from `describeTable`, because a foreign key can reference a table that the file declares later.
 */
export function describeForeignKeys(table: Table): ForeignKeyFacts[] {
  const keys: ForeignKeyFacts[] = []
  for (const key of readConfig(table).config.foreignKeys.map(declared => describeForeignKey(table, declared))) {
    const at = keys.findIndex(other => isSameKey(other, key))
    if (at === -1) keys.push(key)
    else keys[at] = withStrictestActions(keys[at]!, key)
  }
  return keys.map(key => Object.freeze(key))
}

function describeForeignKey(table: Table, key: TableConfig['foreignKeys'][number]): ForeignKeyFacts {
  const { columns, foreignTable, foreignColumns } = key.reference()
  return {
    table,
    columns: columns.map(column => propertyName(table, column)),
    foreignTable,
    foreignColumns: foreignColumns.map(column => propertyName(foreignTable, column)),
    onDelete: (key.onDelete ?? 'no action') as Action,
    onUpdate: (key.onUpdate ?? 'no action') as Action,
  }
}

/** Two keys are the same if they compare the same columns, in any order. */
function isSameKey(a: ForeignKeyFacts, b: ForeignKeyFacts): boolean {
  const has = (column: string, foreignColumn: string) =>
    b.columns.some((other, index) => other === column && b.foreignColumns[index] === foreignColumn)
  return a.foreignTable === b.foreignTable
    && a.columns.length === b.columns.length
    && a.columns.every((column, index) => has(column, a.foreignColumns[index]!))
}

function withStrictestActions(a: ForeignKeyFacts, b: ForeignKeyFacts): ForeignKeyFacts {
  const strictest = (of: 'onDelete' | 'onUpdate') => ACTIONS.find(action => action === a[of] || action === b[of])!
  return { ...a, onDelete: strictest('onDelete'), onUpdate: strictest('onUpdate') }
}
