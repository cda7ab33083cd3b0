/** What a database refused and why, told apart from the text in which each driver says it. */
import type { Dialect } from '../schema/drizzle'

export interface Violation {
  readonly kind: 'unique' | 'reference' | 'required' | 'check'
  /** Database names of the columns, where the driver tells. */
  readonly columns: readonly string[]
  /** The violated constraint, where the driver names that instead of its columns. */
  readonly key?: string
  /** Database name of the table, where the driver tells. */
  readonly table?: string
}

interface DriverError {
  readonly code?: unknown
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
}

/** D1 says all of it in its message: `D1_ERROR: UNIQUE constraint failed: posts.slug: SQLITE_CONSTRAINT (extended: …)` */
const SQLITE_MESSAGE = /(UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed(?:: ([^:]*))?/

const SQLITE_NAMES: Kinds = { 'UNIQUE': 'unique', 'FOREIGN KEY': 'reference', 'NOT NULL': 'required', 'CHECK': 'check' }

const POSTGRES: Kinds = {
  '23505': 'unique', '23503': 'reference', '23001': 'reference', '23502': 'required', '23514': 'check',
  // An exclusion constraint: another row is in the way.
  '23P01': 'unique',
  // Too long, out of range, not of the type: what a column cannot hold.
  '22001': 'check', '22003': 'check', '22P02': 'check', '22007': 'check', '22008': 'check',
}

const MYSQL: Kinds = {
  1062: 'unique', 1586: 'unique', 1451: 'reference', 1452: 'reference', 1216: 'reference', 1217: 'reference', 1048: 'required', 1364: 'required',
  // 4025 is MariaDB's check constraint, 3819 MySQL's; then what a column cannot hold.
  4025: 'check', 3819: 'check', 1406: 'check', 1264: 'check', 1265: 'check', 1292: 'check', 1366: 'check',
}

const READERS: Readonly<Record<Dialect, Reader>> = {
  // UNIQUE constraint failed: posts.slug, posts.organization_id
  sqlite({ code, extendedCode, message }) {
    const [, said, where = ''] = SQLITE_MESSAGE.exec(String(message)) ?? []
    const kind = SQLITE[String(extendedCode ?? code)] ?? SQLITE_NAMES[said ?? '']
    if (kind === 'check') return { kind, columns: [], ...where && { key: where.trim() } }
    const names = kind === 'unique' || kind === 'required' ? where.trim().split(', ') : []
    const [table] = names[0]?.includes('.') ? names[0].split('.') : []
    return kind && { kind, columns: names.map(name => name.split('.').at(-1)!), ...table !== undefined && { table } }
  },
  // Key (slug, organization_id)=(a, 1) already exists.
  pg({ code, detail, column, column_name, constraint, constraint_name, table, table_name }) {
    const kind = POSTGRES[String(code)]
    const key = kind === 'unique' ? /^Key \((.+?)\)=/.exec(String(detail))?.[1]?.split(', ').map(unquote) : undefined
    const text = (...values: unknown[]) => values.find(value => typeof value === 'string' && value !== '') as string | undefined
    const [named, check, of] = [text(column, column_name), kind === 'check' ? text(constraint, constraint_name) : undefined, text(table, table_name)]
    return kind && { kind, columns: key ?? (named === undefined ? [] : [named]), ...check !== undefined && { key: check }, ...of !== undefined && { table: of } }
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

/** The violated constraint, or `undefined` when the error is something else. Drivers may wrap their error as `cause`. */
export function findViolation(dialect: Dialect, error: unknown): Violation | undefined {
  for (let current = error as DriverError | undefined, depth = 0; current && depth < 5; current = current.cause as DriverError | undefined, depth++) {
    const violation = READERS[dialect](current)
    if (violation) return violation
  }
  return undefined
}
