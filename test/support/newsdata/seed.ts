/** Rows as SQL text of a dialect, written without a driver and without the module. */
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import type { Kind, Row } from '../oracle/model'
import { kindOf, type Specs, type TableSpec } from './columns'
import type { Data } from './rows'
import { MYSQL_SCALE } from './tables'

type Literal = (value: never) => string

const quoted = (text: string) => `'${text.replaceAll('\'', '\'\'')}'`
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')
/** `2024-02-29 12:30:00.500` */
const time = (value: Date) => value.toISOString().slice(0, -1).replace('T', ' ')

const PLAIN: Readonly<Record<Kind, Literal>> = {
  text: quoted, integer: String, real: String, boolean: String, bigint: String, decimal: String,
  date: (value: Date) => quoted(`${time(value)}+00`),
  json: (value: unknown) => quoted(JSON.stringify(value)),
  blob: (value: Uint8Array) => `'\\x${hex(value)}'`,
}

const LITERALS: Readonly<Record<Dialect, Readonly<Record<Kind, Literal>>>> = {
  sqlite: { ...PLAIN, date: (value: Date) => String(value.getTime()), blob: (value: Uint8Array) => `x'${hex(value)}'` },
  pg: PLAIN,
  mysql: {
    ...PLAIN,
    text: (text: string) => quoted(text.replaceAll('\\', '\\\\')),
    json: (value: unknown) => quoted(JSON.stringify(value).replaceAll('\\', '\\\\')),
    date: (value: Date) => quoted(time(value)),
    blob: (value: Uint8Array) => `x'${hex(value)}'`,
  },
}

/** Rows per INSERT. */
const AT_ONCE = 40

/** Missing columns of a row are NULL. */
export function seedText(dialect: Dialect, specs: Specs, tables: Readonly<Record<string, Table>>, data: Data): string {
  return Object.entries(data).flatMap(([name, rows]) => insertTexts(dialect, specs[name]!, tables[name]!, rows)).join(';\n')
}

function insertTexts(dialect: Dialect, spec: TableSpec, table: Table, rows: readonly Row[]): string[] {
  const columns = Object.entries(spec.columns)
  const names = columns.map(([property]) => getTableColumns(table)[property]!.name)
  const say = (row: Row) =>
    columns.map(([property, spelled]) =>
      row[property] === null || row[property] === undefined ? 'null' : LITERALS[dialect][kindOf(spelled)](row[property] as never),
    )
  const lines = rows.map(row => `(${say(row).join(', ')})`)
  return Array.from({ length: Math.ceil(lines.length / AT_ONCE) }, (_, index) =>
    `insert into ${getTableName(table)} (${names.join(', ')}) values ${lines.slice(index * AT_ONCE, (index + 1) * AT_ONCE).join(', ')}`)
}

/** The rows as an engine stores them: decimals of MySQL have the scale of their column. */
export function asKept(dialect: Dialect, specs: Specs, data: Data): Data {
  if (dialect !== 'mysql') return data
  const scaled = (text: string) => {
    const [whole, rest = ''] = text.split('.')
    return `${whole}.${rest.padEnd(MYSQL_SCALE, '0')}`
  }
  return Object.fromEntries(Object.entries(data).map(([name, rows]) => {
    const decimals = Object.entries(specs[name]!.columns)
      .filter(([, spelled]) => kindOf(spelled) === 'decimal')
      .map(([property]) => property)
    return [
      name,
      rows.map(row => ({
        ...row,
        ...Object.fromEntries(
          decimals.map(property => [
            property,
            row[property] === null || row[property] === undefined ? null : scaled(row[property] as string),
          ]),
        ),
      })),
    ]
  }))
}
