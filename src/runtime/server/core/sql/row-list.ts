/** A list of rows as the source of an INSERT … SELECT. The text of the statement is the same for every number of rows. */
import { sql, type SQL } from 'drizzle-orm'
import type { Dialect } from '../../../shared/dialects'
import { postgresType } from '../../engines/dialects/pg'
import type { Field } from '../../schema/field'
import { toArray } from './list/pg'
import { commaList, value, where, type Part } from './where'

type Row = readonly unknown[]

export interface RowListSql {
  /** The text of one list, in characters. A list becomes longer where the driver escapes it. */
  readonly maxLength: number
  /** The FROM clause of the rows. Its text does not depend on their number. */
  readonly from: (fields: readonly Field[], rows: readonly Row[]) => Part
  /** A column of the list. */
  readonly column: (index: number) => SQL
}

const toNumbers = (row: Row) => row.map(value => typeof value === 'boolean' ? Number(value) : value)
const named = (index: number) => sql.raw(`listed.v${index}`)

export const ROW_LISTS: Readonly<Record<Dialect, RowListSql>> = {
  /** `select value ->> 0, value ->> 1 from json_each(?)` */
  sqlite: {
    maxLength: 8_000_000,
    from: (_, rows) => where`json_each(${value(JSON.stringify(rows))})`,
    column: index => sql.raw(`value ->> ${index}`),
  },
  /** `select listed.v0, listed.v1 from unnest(cast(cast(? as text) as integer[]), …) as listed(v0, v1)` */
  pg: {
    maxLength: 8_000_000,
    from: (fields, rows) => {
      const arrays = fields.map((_, index) => value(toArray(rows.map(row => row[index]))))
      const lists = fields.map(({ column }, index) => where`cast(cast(${arrays[index]!} as text) as ${postgresType(column)}[])`)
      const names = sql.raw(fields.map((_, index) => `v${index}`).join(', '))
      return where`unnest(${commaList(lists)}) as listed(${names})`
    },
    column: named,
  },
  /** `select listed.v0, listed.v1 from json_table(?, '$[*]' columns (v0 longtext path '$[0]', …)) as listed` */
  mysql: {
    // The driver escapes quotes and backslashes once more. By default, MariaDB accepts statements of 16 MB.
    maxLength: 3_000_000,
    from: (fields, rows) => {
      const columns = sql.raw(fields.map((_, index) => `v${index} longtext path '$[${index}]'`).join(', '))
      return where`json_table(${value(JSON.stringify(rows.map(toNumbers)))}, '$[*]' columns (${columns})) as listed`
    },
    column: named,
  },
}

const KINDS: ReadonlySet<Field['kind']> = new Set(['text', 'json', 'integer', 'boolean'])

/** Whether a list can contain the driver values of a column. Other types have values that JSON, or a cast from text, would change. */
export const canList = ({ kind }: Field, values: readonly unknown[]): boolean => KINDS.has(kind) && values.every(isPlain)

/** A NUL character ends a text in some databases. */
const isPlain = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && !value.includes('\0'))
