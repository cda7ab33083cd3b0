/**
 * Converts a Drizzle view to a table of the same name with the same columns. Everything else then reads one kind of source. The schema
 * layer makes sure that no statement writes to it.
 */
import { aliasedTable, Column, getTableColumns, getTableName, is, SQL, View, type Table } from 'drizzle-orm'
import { boolean as mysqlBoolean, decimal, MySqlTable, mysqlTable, MySqlView } from 'drizzle-orm/mysql-core'
import { boolean as pgBoolean, doublePrecision, PgMaterializedView, PgTable, pgTable, PgView } from 'drizzle-orm/pg-core'
import { integer, real, SQLiteTable, sqliteTable, SQLiteView } from 'drizzle-orm/sqlite-core'
import { tableOf } from '../../drizzle/index'
import { copyColumn } from './copy-column'

/** Where the types of the columns come from: the app declares them, or the view selects columns of tables. */
export type ViewKind = 'declared' | 'selected'

interface ViewConfig {
  readonly name: string
  readonly originalName: string
  readonly schema: string | undefined
  readonly selectedFields: Readonly<Record<string, unknown>>
  readonly isAlias: boolean
}

/** What Drizzle calls with the value of a driver. */
type Decode = unknown

interface ViewDialect {
  readonly views: readonly unknown[]
  readonly create: (name: string, schema: string | undefined) => Table
  /** The columns of expressions, by the function of `.mapWith()`. */
  readonly columns: ReadonlyMap<Decode, Column>
}

const inSqlite = sqliteTable('expressions', { number: real('number'), boolean: integer('boolean', { mode: 'boolean' }) })
const inPg = pgTable('expressions', { number: doublePrecision('number'), boolean: pgBoolean('boolean') })
const inMysql = mysqlTable('expressions', {
  // The sum of integers is a decimal in MySQL, which its driver returns as text.
  number: decimal('number', { mode: 'number', precision: 65, scale: 30 }),
  boolean: mysqlBoolean('boolean'),
})

const columnsOf = ({ number, boolean }: { readonly number: Column, readonly boolean: Column }) =>
  new Map<Decode, Column>([[Number, number], [Boolean, boolean]])

const DIALECTS: readonly ViewDialect[] = [
  { views: [SQLiteView], create: (name, schema) => new SQLiteTable(name, schema, name), columns: columnsOf(inSqlite) },
  { views: [PgView, PgMaterializedView], create: (name, schema) => new PgTable(name, schema, name), columns: columnsOf(inPg) },
  { views: [MySqlView], create: (name, schema) => new MySqlTable(name, schema, name), columns: columnsOf(inMysql) },
]

const CONFIG = Symbol.for('drizzle:ViewBaseConfig')
const COLUMNS = Symbol.for('drizzle:Columns')
const KIND = Symbol.for('nuxt-auto-api:view')

export const isView = (value: unknown): value is View => is(value, View)

/** Returns where the columns of a table come from, if the table stands for a view. */
export const viewKindOf = (table: Table): ViewKind | undefined => (table as { readonly [KIND]?: ViewKind })[KIND]

const tables = new WeakMap<View, Table>()

/**
 * Returns the table that stands for a view, always the same one. A table stands for itself.
 * @throws When a column of the view has no known type, or when two have the same name.
 */
export function toTable(source: Table | View): Table {
  if (!isView(source)) return source
  let table = tables.get(source)
  if (!table) tables.set(source, table = createTable(source))
  return table
}

function createTable(view: View): Table {
  const config = (view as unknown as Readonly<Record<symbol, ViewConfig>>)[CONFIG]!
  const dialect = DIALECTS.find(({ views }) => views.some(type => is(view, type as never)))
  if (!dialect) throw new TypeError('not a Drizzle view of sqlite-core, pg-core or mysql-core')
  const table = dialect.create(config.originalName, config.schema)
  const fields = ownFields(view)
  const isDeclared = (field: unknown) => is(field, Column) && isOwnColumn(field, config)
  const columns = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toColumn(name, field, table, dialect)]))
  assertDistinctNames(columns)
  const kind: ViewKind = Object.values(fields).every(isDeclared) ? 'declared' : 'selected'
  Object.assign(table, columns, { [COLUMNS]: columns, [KIND]: kind })
  return config.isAlias ? aliasedTable(table, config.name) : table
}

/** The columns and expressions as the app wrote them. Drizzle's proxies replace them when they are read. */
function ownFields(view: View): Readonly<Record<string, unknown>> {
  const { selectedFields } = Object.getOwnPropertyDescriptor(view, CONFIG)!.value as ViewConfig
  const own = Object.entries(Object.getOwnPropertyDescriptors(selectedFields))
  return Object.fromEntries(own.map(([name, { value }]) => [name, value as unknown]))
}

/** Drizzle creates a table of the same name for the columns that a view declares. */
function isOwnColumn(column: Column, { originalName, selectedFields }: ViewConfig): boolean {
  const table = tableOf(column)
  return getTableName(table) === originalName && Object.keys(getTableColumns(table)).join() === Object.keys(selectedFields).join()
}

function toColumn(name: string, field: unknown, table: Table, { columns }: ViewDialect): Column {
  if (is(field, Column)) return copyColumn(field, table, { name: field.name })
  if (is(field, SQL.Aliased)) {
    const { decoder } = field.sql as SQL & { readonly decoder: Column | { readonly mapFromDriverValue: Decode } }
    const column = is(decoder, Column) ? decoder : columns.get(decoder.mapFromDriverValue)
    if (column) return copyColumn(column, table, { name: field.fieldAlias, notNull: false, keyAsName: false })
    throw new TypeError(
      `the type of the column \`${name}\` is not known, because it is an expression. Add \`.mapWith(Number)\`, \`.mapWith(Boolean)\` or `
      + '`.mapWith(table.column)` before its `.as()`, or declare the columns of the view: '
      + `\`view(name, { ${name}: integer() }).as(sql\`…\`)\``,
    )
  }
  if (is(field, SQL)) throw new TypeError(`the column \`${name}\` is an expression without a name. Add \`.as('${name}')\` to it`)
  throw new TypeError(`the column \`${name}\` is a group of columns. Select the columns of a view by name, as one object`)
}

function assertDistinctNames(columns: Readonly<Record<string, Column>>): void {
  const names = Object.values(columns).map(({ name }) => name)
  const repeated = Object.entries(columns).find(([, { name }], index) => names.indexOf(name) !== index)
  if (repeated)
    throw new TypeError(
      `two columns are called "${repeated[1].name}" in the database. Give \`${repeated[0]}\` a name of its own: `
      + `\`sql\`\${table.column}\`.mapWith(table.column).as('${repeated[0]}')\``,
    )
}
