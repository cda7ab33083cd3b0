/** Describes a Drizzle table of any dialect as plain data. */
import type { Table } from 'drizzle-orm'
import { Column, getTableColumns, getTableName, is, SQL } from 'drizzle-orm'
import type { Dialect } from '../../../shared/dialects'
import { readConfig, propertyName } from './config'
import { describeColumn, type ColumnFacts } from './column'
import { viewKindOf, type ViewKind } from './view'

export interface TableFacts {
  readonly table: Table
  readonly dialect: Dialect
  /** The table's name in the database. */
  readonly name: string
  /** Where the types of the columns come from, if the table stands for a view. */
  readonly view?: ViewKind
  readonly columns: readonly ColumnFacts[]
  /** Property names in key order. Empty if the table has no primary key. */
  readonly primaryKey: readonly string[]
  /** Property names of each unique constraint, and of each unique index without a condition. */
  readonly uniques: readonly (readonly string[])[]
  /** Property names, by the database name of the unique constraint or index. */
  readonly keys: ReadonlyMap<string, readonly string[]>
  /** Property names of the columns that a check constraint uses, by the name of the constraint. */
  readonly checks: ReadonlyMap<string, readonly string[]>
}

/** @throws When the value is not a table of a supported dialect. */
export function describeTable(table: Table): TableFacts {
  const { dialect, config } = readConfig(table)
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => describeColumn(name, column))
  const names = (list: readonly unknown[]) => list.flatMap(item => is(item, Column) ? propertyName(table, item) : [])
  const declared = config.primaryKeys[0]?.columns
  const view = viewKindOf(table)
  const indexes = config.indexes.filter(
    ({ config }) => config.unique && !config.where && config.columns.every(item => is(item, Column) || isNamed(item)),
  )
  return Object.freeze({
    table,
    dialect,
    name: getTableName(table),
    ...view && { view },
    columns,
    primaryKey: declared ? names(declared) : columns.filter(({ column }) => column.primary).map(({ name }) => name),
    uniques: [
      ...config.uniqueConstraints.map(({ columns }) => names(columns)),
      ...indexes.map(({ config }) =>
        config.columns.map(item => columns.find(({ column }) => column.name === (item as { name: string }).name)!.name),
      ),
      ...columns.filter(({ column }) => column.isUnique).map(({ name }) => [name]),
    ],
    keys: new Map<string, readonly string[]>([
      ...config.uniqueConstraints.flatMap(({ name, columns }) => (name ? [[name, names(columns)] as const] : [])),
      ...indexes.flatMap(({ config }) =>
        config.name
          ? [
              [
                config.name,
                config.columns.map(item => columns.find(({ column }) => column.name === (item as { name: string }).name)!.name),
              ] as const,
            ]
          : [],
      ),
      // Databases report the constraint of a unique column by the column's name, or by the name that Drizzle generates.
      ...columns
        .filter(({ column }) => column.isUnique)
        .flatMap(({ name, column }) => [[column.name, [name]] as const, [column.uniqueName ?? column.name, [name]] as const]),
    ]),
    checks: new Map(
      config.checks.map(({ name, value }) => {
        const compared = new Set(columnsIn(value).map(column => column.name))
        return [name, columns.filter(({ column }) => compared.has(column.name)).map(({ name }) => name)]
      }),
    ),
  })
}

/** The table or the view in a message: `table "posts"`. */
export const sourceName = ({ name, view }: Pick<TableFacts, 'name' | 'view'>) => `${view ? 'view' : 'table'} "${name}"`

function columnsIn(value: unknown): Column[] {
  if (is(value, Column)) return [value]
  const parts = is(value, SQL) ? value.queryChunks : Array.isArray(value) ? value as unknown[] : []
  return parts.flatMap(columnsIn)
}

function isNamed(item: unknown): item is { name: string } {
  return typeof item === 'object' && item !== null && typeof (item as { name?: unknown }).name === 'string'
}
