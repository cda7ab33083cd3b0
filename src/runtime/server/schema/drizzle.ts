/** The only reader of Drizzle's table internals: one plain description for the three dialects. */
import { Column, getTableColumns, getTableName, is, One, Relations, SQL, Table, createTableRelationsHelpers } from 'drizzle-orm'
import { getTableConfig as mysqlConfig, MySqlTable } from 'drizzle-orm/mysql-core'
import { getTableConfig as pgConfig, PgTable } from 'drizzle-orm/pg-core'
import { getTableConfig as sqliteConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Kind } from '../../shared/wire'
import type { Dialect } from '../../shared/dialects'

export interface ColumnFacts {
  /** The property name in the table: the field's name everywhere. */
  readonly name: string
  readonly column: Column
  readonly kind: Kind
  readonly nullable: boolean
  /** The row can be inserted without it. */
  readonly optional: boolean
  /** The database makes the value: auto-increment, serial, identity, a default of the database on a primary key. */
  readonly generated: boolean
}

export interface ForeignKeyFacts {
  readonly table: Table
  readonly columns: readonly string[]
  readonly foreignTable: Table
  readonly foreignColumns: readonly string[]
  readonly onDelete: 'cascade' | 'restrict' | 'no action' | 'set null' | 'set default'
}

export interface TableFacts {
  readonly table: Table
  readonly dialect: Dialect
  /** The table's name in the database. */
  readonly name: string
  readonly columns: readonly ColumnFacts[]
  /** Property names in key order; empty when the table has no primary key. */
  readonly primaryKey: readonly string[]
  /** Property names of every unique constraint and index without a condition. */
  readonly uniques: readonly (readonly string[])[]
  /** Property names by the name that the database has for a unique constraint or index. */
  readonly keys: ReadonlyMap<string, readonly string[]>
  /** Property names of the columns that a check constraint compares, by its name. */
  readonly checks: ReadonlyMap<string, readonly string[]>
}

interface TableConfig {
  foreignKeys: { reference: () => { columns: Column[], foreignTable: Table, foreignColumns: Column[] }, onDelete?: string }[]
  primaryKeys: { columns: Column[] }[]
  uniqueConstraints: { name?: string, columns: Column[] }[]
  checks: { name: string, value: SQL }[]
  indexes: { config: { name?: string, unique?: boolean, where?: unknown, columns: unknown[] } }[]
}

const DIALECTS: readonly { dialect: Dialect, type: unknown, config: (table: never) => unknown }[] = [
  { dialect: 'sqlite', type: SQLiteTable, config: sqliteConfig },
  { dialect: 'pg', type: PgTable, config: pgConfig },
  { dialect: 'mysql', type: MySqlTable, config: mysqlConfig },
]

export function isTable(value: unknown): value is Table {
  return is(value, Table)
}

/** @throws When the value is not a table of a supported dialect. */
export function describeTable(table: Table): TableFacts {
  const { dialect, config } = open(table)
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => describeColumn(name, column))
  const names = (list: readonly unknown[]) => list.flatMap(item => is(item, Column) ? propertyName(table, item) : [])
  const declared = config.primaryKeys[0]?.columns
  const indexes = config.indexes.filter(
    ({ config }) => config.unique && !config.where && config.columns.every(item => is(item, Column) || isNamed(item)),
  )
  return Object.freeze({
    table,
    dialect,
    name: getTableName(table),
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
      // A column that is unique by itself gives its key its own name, or one that Drizzle makes.
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

function columnsIn(value: unknown): Column[] {
  if (is(value, Column)) return [value]
  const parts = is(value, SQL) ? value.queryChunks : Array.isArray(value) ? value as unknown[] : []
  return parts.flatMap(columnsIn)
}

/** Read apart from the table, because a reference may name a table that is only declared further down the file. */
export function describeForeignKeys(table: Table): ForeignKeyFacts[] {
  return open(table).config.foreignKeys.map((key) => {
    const { columns, foreignTable, foreignColumns } = key.reference()
    return Object.freeze({
      table,
      columns: columns.map(column => propertyName(table, column)),
      foreignTable,
      foreignColumns: foreignColumns.map(column => propertyName(foreignTable, column)),
      onDelete: (key.onDelete ?? 'no action') as ForeignKeyFacts['onDelete'],
    })
  })
}

export interface DeclaredRelation {
  readonly name: string
  readonly target: Table
  readonly many: boolean
  /** Given on the side that holds the key. */
  readonly columns?: readonly string[]
  readonly foreignColumns?: readonly string[]
  readonly relationName?: string
}

/** What Drizzle's `relations()` declares for a table. @throws When the value is not made by `relations()`. */
export function describeRelations(relations: unknown): { table: Table, relations: DeclaredRelation[] } {
  if (!is(relations, Relations)) throw new TypeError('not a value made by Drizzle\'s relations()')
  const table = relations.table as Table
  const declared = relations.config(createTableRelationsHelpers(table as never))
  return {
    table,
    relations: Object.entries(declared).map(([name, relation]) => {
      const target = relation.referencedTable as Table
      const config = is(relation, One) ? relation.config : undefined
      return {
        name,
        target,
        many: !is(relation, One),
        columns: config?.fields.map(column => propertyName(table, column)),
        foreignColumns: config?.references.map(column => propertyName(target, column)),
        relationName: relation.relationName,
      }
    }),
  }
}

function open(table: Table): { dialect: Dialect, config: TableConfig } {
  for (const { dialect, type, config } of DIALECTS) {
    if (is(table, type as never)) return { dialect, config: config(table as never) as TableConfig }
  }
  throw new TypeError('not a Drizzle table of sqlite-core, pg-core or mysql-core')
}

function isNamed(item: unknown): item is { name: string } {
  return typeof item === 'object' && item !== null && typeof (item as { name?: unknown }).name === 'string'
}

function propertyName(table: Table, column: Column): string {
  const entry = Object.entries(getTableColumns(table)).find(([, own]) => own.name === column.name)
  if (!entry) throw new TypeError(`column "${column.name}" is not one of table "${getTableName(table)}"`)
  return entry[0]
}

function describeColumn(name: string, column: Column): ColumnFacts {
  const facts = column as Column & { autoIncrement?: boolean, generatedIdentity?: unknown }
  return Object.freeze({
    name,
    column,
    kind: kindOf(column),
    nullable: !column.notNull,
    optional: !column.notNull || column.hasDefault || isGenerated(facts),
    generated: isGenerated(facts),
  })
}

const SERIAL = /Serial/
function isGenerated(column: Column & { autoIncrement?: boolean, generatedIdentity?: unknown }): boolean {
  return column.generated !== undefined
    || column.generatedIdentity !== undefined
    || column.autoIncrement === true
    || SERIAL.test(column.columnType)
    // An INTEGER PRIMARY KEY of SQLite is the rowid; a database default makes uuid and text keys.
    || (column.primary && (/^SQLite(?:Integer|Boolean|Timestamp)$/.test(column.columnType) || column.default !== undefined))
}

const WHOLE = /(?:Integer|Int|BigInt53|BigSerial53|SmallSerial|Serial|Year)$/
const EXACT = /(?:Numeric|Decimal)$/
function kindOf(column: Column): Kind {
  switch (column.dataType) {
    case 'string': return EXACT.test(column.columnType) ? 'decimal' : 'text'
    case 'number': return WHOLE.test(column.columnType) ? 'integer' : 'number'
    case 'boolean': return 'boolean'
    case 'date': return 'date'
    case 'bigint': return 'bigint'
    case 'buffer': return 'blob'
    case 'json': case 'array': return 'json'
    default: return 'custom'
  }
}
