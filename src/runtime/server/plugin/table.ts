/** Reads and writes the rows of one resource without any rule, for plugins that own the table, such as tokens. */
import { sql, type SQL, type Table } from 'drizzle-orm'
import type { Database } from '../core/replicas/database'
import { equals } from '../core/sql/conditions'
import type { Row } from '../engines/engine'
import type { Field } from '../schema/field'
import type { Resource } from '../schema/model'

type Values = Readonly<Record<string, unknown>>

interface Insertable {
  readonly insert: (table: Table) => { readonly values: (values: object) => unknown }
}

/** Access to the table of a resource. No permission, row rule or hook applies. */
export interface PluginTable {
  /**
   * Reads the row in which one of the fields has the value. The row has all columns, hidden ones included.
   * @param event the event of the request or of the task
   */
  readonly find: <Found = Record<string, unknown>>(event: unknown, fields: readonly string[], value: unknown) => Promise<Found | undefined>
  /**
   * Reads rows with all columns, hidden ones included.
   * @param rest what follows `select … from <table>`, such as a condition with an order and a limit
   */
  readonly select: <Found = Record<string, unknown>>(event: unknown, rest: SQL) => Promise<readonly Found[]>
  /** Updates the rows that meet the condition. Plugins receive no changes. Returns the number of rows. */
  readonly update: (event: unknown, values: Values, where: SQL) => Promise<number>
  /** Inserts a row. Defaults of Drizzle apply. Plugins receive no changes. */
  readonly insert: (event: unknown, values: Values) => Promise<void>
  /** Removes the rows that meet the condition. Plugins receive no changes. */
  readonly remove: (event: unknown, where: SQL) => Promise<void>
  /** Compares a field byte for byte. `table` can be an alias. `null` matches only `null`. */
  readonly matches: (table: Table, field: string, value: unknown) => SQL
}

export function createPluginTable(resource: Resource, database: Database): PluginTable {
  const { table, name } = resource
  const fields = [...resource.fields.values()].filter(({ stored }) => stored)
  const fieldOf = (property: string): Field => {
    const field = resource.fields.get(property)
    if (!field) throw new Error(`[auto-api] \`${name}\` has no field \`${property}\`.`)
    return field
  }
  const columns = sql.join(fields.map(({ selection }) => selection), sql`, `)
  const toRow = (row: Row) => Object.fromEntries(fields.map(({ name, decode }, index) => [name, decode ? decode(row[index]) : row[index]]))
  /** The text of each select by engine and fields. */
  const texts = new Map<string, string>()

  return Object.freeze<PluginTable>({
    async find<Found>(event: unknown, names: readonly string[], value: unknown) {
      if (value === undefined) return undefined
      const engine = database.engine(event)
      const searched = names.map(fieldOf)
      const key = `${engine.name} ${names.join()}`
      let text = texts.get(key)
      if (text === undefined) {
        // Later calls use the text too, so it must not depend on the value: Drizzle writes a list or SQL in another way.
        const where = sql.join(searched.map(({ column }) => sql`${column} = ${''}`), sql` or `)
        texts.set(key, text = engine.render(sql`select ${columns} from ${table} where ${where}`).text)
      }
      const [row] = await engine.query({ text, values: searched.map(field => field.encode(value)) })
      return row && toRow(row) as Found
    },
    async select<Found>(event: unknown, rest: SQL) {
      const engine = database.engine(event)
      return (await engine.query(engine.render(sql`select ${columns} from ${table} ${rest}`))).map(row => toRow(row) as Found)
    },
    async update(event, values, where) {
      const engine = database.engine(event)
      const set = Object.entries(values).map(([property, value]) => {
        const { column } = fieldOf(property)
        return sql`${sql.identifier(engine.columnName(column))} = ${sql.param(value, column)}`
      })
      const statement = engine.render(sql`update ${table} set ${sql.join(set, sql`, `)} where ${where}`)
      return (await engine.commit([{ ...statement, atomic: true }]))[0]!.affectedRows
    },
    async insert(event, values) {
      const build = (db: unknown) => (db as Insertable).insert(table).values(values)
      await database.engine(event).commit([{ build }])
    },
    async remove(event, where) {
      const engine = database.engine(event)
      await engine.commit([{ ...engine.render(sql`delete from ${table} where ${where}`), atomic: true }])
    },
    matches(alias, property, value) {
      const field = fieldOf(property)
      const column = (alias as unknown as Readonly<Record<string, Field['column']>>)[property]!
      return value === null ? sql`${column} is null` : equals({ ...field, column }, value).getSQL()
    },
  })
}
