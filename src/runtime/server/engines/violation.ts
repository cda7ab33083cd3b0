/** Reads constraint violations and invalid values from the errors of drivers. */
import type { Dialect } from '../../shared/dialects'
import { InvalidValueError, TooComplexError } from './engine'

export interface Violation {
  readonly kind: 'unique' | 'reference' | 'required' | 'check'
  /** The database names of the columns. Empty if the driver's error does not contain them. */
  readonly columns: readonly string[]
  /** The name of the violated constraint, if the error contains it instead of the columns. */
  readonly key?: string
  /** The database name of the table, if the error contains it. */
  readonly table?: string
}

export interface DriverError {
  readonly code?: unknown
  readonly sqlState?: unknown
  readonly errno?: unknown
  readonly extendedCode?: unknown
  readonly message?: unknown
  readonly detail?: unknown
  readonly column?: unknown
  readonly column_name?: unknown
  readonly constraint?: unknown
  readonly constraint_name?: unknown
  readonly table?: unknown
  readonly table_name?: unknown
  readonly cause?: unknown
}

type Reader = (error: DriverError) => Violation | undefined
type Kinds = Readonly<Record<string, Violation['kind']>>

const SQLITE: Kinds = {
  SQLITE_CONSTRAINT_UNIQUE: 'unique',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
  SQLITE_CONSTRAINT_ROWID: 'unique',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'reference',
  SQLITE_CONSTRAINT_TRIGGER: 'reference',
  SQLITE_CONSTRAINT_NOTNULL: 'required',
  SQLITE_CONSTRAINT_CHECK: 'check',
  SQLITE_CONSTRAINT_DATATYPE: 'check',
  // The value has another type, or exceeds SQLite's size limit.
  SQLITE_MISMATCH: 'check',
  SQLITE_TOOBIG: 'check',
}

/** Messages of errors that have no specific code. No error of D1 has one. */
const SQLITE_INVALID = /datatype mismatch|string or blob too big|integer overflow|cannot store \w+ value|bigint is too (?:big|large)/

/** D1 writes code and columns into the message: `D1_ERROR: UNIQUE constraint failed: posts.slug: SQLITE_CONSTRAINT (extended: …)` */
const SQLITE_MESSAGE = /(UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed(?:: ([^:]*))?/

const SQLITE_NAMES: Kinds = { 'UNIQUE': 'unique', 'FOREIGN KEY': 'reference', 'NOT NULL': 'required', 'CHECK': 'check' }

const POSTGRES: Kinds = {
  '23505': 'unique', '23503': 'reference', '23001': 'reference', '23502': 'required', '23514': 'check',
  // An exclusion constraint found a conflicting row.
  '23P01': 'unique',
  // The value has another type, or is too large for an index over its column.
  '42804': 'check', '54000': 'check',
}

/** Codes for values that are too long, out of range or of another type. Excludes errors of functions: they get no client values. */
const POSTGRES_INVALID = /^22(?!012|014|016|01[EFG])/

const MYSQL: Kinds = {
  1062: 'unique',
  1586: 'unique',
  1451: 'reference',
  1452: 'reference',
  1216: 'reference',
  1217: 'reference',
  1048: 'required',
  1364: 'required',
  // 4025 is a check constraint of MariaDB, and 3819 of MySQL. The other codes report values that a column cannot hold.
  4025: 'check',
  3819: 'check',
  1406: 'check',
  1264: 'check',
  1265: 'check',
  1292: 'check',
  1366: 'check',
  1367: 'check',
  1411: 'check',
  1416: 'check',
  1525: 'check',
  1690: 'check',
  1300: 'check',
  3140: 'check',
  3141: 'check',
  3854: 'check',
  3988: 'check',
  // The value is larger than a packet, a row or a key.
  1153: 'check',
  1118: 'check',
  1071: 'check',
}

/** The error codes for values that MySQL cannot compare. */
const MYSQL_INVALID: ReadonlySet<unknown> = new Set([
  1264, 1265, 1267, 1270, 1271, 1292, 1300, 1366, 1367, 1406, 1411, 1416, 1525, 1690, 3140, 3141, 3854, 3988, 1153,
])

const READERS: Readonly<Record<Dialect, Reader>> = {
  // UNIQUE constraint failed: posts.slug, posts.organization_id
  sqlite({ code, extendedCode, message }) {
    const [, constraint, target = ''] = SQLITE_MESSAGE.exec(String(message)) ?? []
    const kind
      = SQLITE[String(extendedCode ?? code)]
        ?? SQLITE_NAMES[constraint ?? '']
        ?? (SQLITE_INVALID.test(String(message)) ? 'check' : undefined)
    if (kind === 'check') return { kind, columns: [], ...target && { key: target.trim() } }
    const names = kind === 'unique' || kind === 'required' ? target.trim().split(', ') : []
    const [table] = names[0]?.includes('.') ? names[0].split('.') : []
    return kind && { kind, columns: names.map(name => name.split('.').at(-1)!), ...table !== undefined && { table } }
  },
  // Key (slug, organization_id)=(a, 1) already exists.
  pg({ code, detail, column, column_name, constraint, constraint_name, table, table_name }) {
    const kind = POSTGRES[String(code)] ?? (POSTGRES_INVALID.test(String(code)) ? 'check' : undefined)
    const keyColumns = kind === 'unique' ? /^Key \((.+?)\)=/.exec(String(detail))?.[1]?.split(', ').map(unquote) : undefined
    const firstText = (...values: unknown[]) => values.find(value => typeof value === 'string' && value !== '') as string | undefined
    const [columnName, checkName, tableName] = [
      firstText(column, column_name),
      kind === 'check' ? firstText(constraint, constraint_name) : undefined,
      firstText(table, table_name),
    ]
    return (
      kind && {
        kind,
        columns: keyColumns ?? (columnName === undefined ? [] : [columnName]),
        ...(checkName !== undefined && { key: checkName }),
        ...(tableName !== undefined && { table: tableName }),
      }
    )
  },
  // Duplicate entry 'a' for key 'posts.slug' · Column 'name' cannot be null · Data too long for column 'name' at row 1
  mysql({ errno, message }) {
    const kind = MYSQL[String(errno)]
    if (kind === 'unique') return { kind, columns: [], key: /for key '(?:[^']*\.)?([^'.]+)'$/.exec(String(message))?.[1] }
    const column = /(?:Column|column|Field) [`'](?:[^']*\.)?([^`'.]+)[`']/.exec(String(message))?.[1]
    // CONSTRAINT `positive` failed for `shop`.`items` · Check constraint 'positive' is violated.
    const check = kind === 'check' ? /(?:CONSTRAINT|constraint) [`'](?:[^`']*\.)?([^`'.]+)[`']/.exec(String(message))?.[1] : undefined
    return kind && { kind, columns: column === undefined ? [] : [column], ...check !== undefined && { key: check } }
  },
}

const unquote = (name: string) => name.replace(/^"|"$/g, '').replaceAll('""', '"')

/** Finds the violated constraint. Returns `undefined` for every other error. */
export function findViolation(dialect: Dialect, error: unknown): Violation | undefined {
  return findCause(error, READERS[dialect])
}

const PGLITE_INVALID = /^Invalid input for \w+ type$/

const INVALID: Readonly<Record<Dialect, (error: DriverError) => boolean>> = {
  sqlite: ({ code, message }) => code === 'SQLITE_MISMATCH' || code === 'SQLITE_TOOBIG' || SQLITE_INVALID.test(String(message)),
  // 42883: a custom type can lack the operator of the comparison. PGlite refuses some values itself, without a code.
  pg: ({ code, message }) => POSTGRES_INVALID.test(String(code)) || (code === '42883' && /operator/.test(String(message)))
    || PGLITE_INVALID.test(String(message)),
  mysql: ({ errno }) => MYSQL_INVALID.has(errno),
}

/** The errors of a database about the depth of a statement. */
const TOO_COMPLEX: Readonly<Record<Dialect, (error: DriverError) => boolean>> = {
  sqlite: ({ message }) => /expression tree is too large|parser stack overflow/i.test(String(message)),
  pg: ({ code }) => code === '54001',
  mysql: ({ errno }) => errno === 1436,
}

/** Wraps the error of a query if a value does not fit the type that it is compared with, or the statement is nested too deeply. */
export function toQueryError(dialect: Dialect, error: unknown): unknown {
  if (findCause(error, found => INVALID[dialect](found) || undefined)) return new InvalidValueError(error)
  return findCause(error, found => TOO_COMPLEX[dialect](found) || undefined) ? new TooComplexError(error) : error
}

/** Searches the error and its causes. A driver wraps the database's error, and Drizzle wraps the driver's error. */
export function findCause<T>(error: unknown, read: (error: DriverError) => T | undefined): T | undefined {
  for (
    let current = error as DriverError | undefined, depth = 0;
    current && depth < 5;
    current = current.cause as DriverError | undefined, depth++
  ) {
    const found = read(current)
    if (found) return found
  }
  return undefined
}
