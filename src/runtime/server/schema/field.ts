/** One column as the API sees it: how its values are read, written, checked and put on the wire. Built once at start. */
import { Column, getTableName, is, sql, SQL } from 'drizzle-orm'
import type { ZodType } from 'zod'
import { toIso, INVALID, WIRE_FORMATS, type Kind } from '../../shared/wire'
import type { Bytewise } from '../engines/dialects/adapter'
import { bytewise } from '../engines/dialects/index'
import { mysqlEnum, mysqlNumber } from '../engines/dialects/mysql'
import type { ColumnFacts } from './drizzle/column'
import { createValueTest, EXPECTED_OF } from './column-values'
import { isScalar } from '../engines/scalar'
import { createDriverValueTest } from './driver-values'

export interface Field {
  /** The property name in the table, and the name on the wire. */
  readonly name: string
  readonly column: Column
  readonly kind: Kind
  readonly nullable: boolean
  /** Whether the database compares values as one expects: not JSON, and not numbers that SQLite keeps as bytes. */
  readonly ordered: boolean
  readonly optional: boolean
  readonly generated: boolean
  /** The place among the table's columns: answers list fields in this order. */
  readonly index: number
  /** What stands in a select list. */
  readonly selection: SQL
  /** What a parameter needs around it to be compared as the column's type; absent where the engine sees to it. */
  readonly compare?: (value: SQL) => SQL
  /** How values are compared by bytes; absent where the column's type has no collation. */
  readonly bytes?: Bytewise
  /** Whether a value that was read can be looked for again: not JSON, not blobs, not what a driver rounds. */
  readonly comparable: boolean
  /** A driver's value (null included) to the value Drizzle knows; absent where both are the same. */
  readonly decode?: (raw: unknown) => unknown
  /** A driver's value (null included) straight to JSON, where no code looks at it on the way; absent where both are the same. */
  readonly toWire?: (raw: unknown) => unknown
  /**
   * The value Drizzle knows (null included) to the driver's value: a scalar, or the SQL that a custom type makes of it.
   * @throws {TypeError} When it is neither: no driver is handed an object.
   */
  readonly encode: (value: unknown) => unknown
  /** The value Drizzle knows (null included) to JSON; absent where `JSON.stringify` already does it right. */
  readonly toJson?: (value: unknown) => unknown
  /** Whether a value Drizzle knows stays within the column's own limits: length, range, enum. */
  readonly fits: (value: unknown) => boolean
  /** Whether this is what a driver gives for a value of the column, when a client hands it in. @throws Where it cannot be decoded. */
  readonly isDriverValue: (raw: unknown) => boolean
  /** What a message calls the column's values, where its type says more than its kind. */
  readonly expected?: string
  /** A JSON value (never null) to the value Drizzle knows, its length and enum not yet checked, or `UNFIT`. */
  readonly fromWire: (value: unknown) => unknown
  /** A JSON value or text to the value Drizzle knows, checked against the column's own limits, or `UNFIT`. */
  readonly fromJson: (value: unknown) => unknown
  readonly fromText: (text: string) => unknown
}

/** SQLite drivers hand 64-bit integers over as doubles: as text they keep every digit. What is no integer is a double already. */
const EXACT: Readonly<Record<string, (value: SQL) => SQL>> = {
  SQLiteNumericBigInt: value => sql`cast(${value} as text)`,
  // MySQL's drivers as well.
  MySqlBigInt64: value => sql`cast(${value} as char)`,
  MySqlSerial64: value => sql`cast(${value} as char)`,
  // MariaDB keeps JSON as text, MySQL's drivers parse it: as text both are the same.
  MySqlJson: value => sql`cast(${value} as char)`,
  SQLiteNumeric: exactNumeric,
  SQLiteNumericNumber: exactNumeric,
}

/** Without a fraction it is kept as an integer, of which libSQL's driver refuses to read those beyond a double. */
function exactNumeric(value: SQL): SQL {
  return sql`case typeof(${value}) when 'integer' then cast(${value} as text) else ${value} end`
}

/** What columns are compared with, where the text of a number would be compared as a double, or an enum as text. */
const COMPARED: Readonly<Record<string, (value: SQL, column: Column) => SQL>> = {
  MySqlBigInt64: mysqlNumber,
  MySqlDecimal: mysqlNumber,
  MySqlDecimalBigInt: mysqlNumber,
  MySqlDecimalNumber: mysqlNumber,
  MySqlEnumColumn: mysqlEnum,
  MySqlEnumObjectColumn: mysqlEnum,
}

/** What Drizzle leaves to a driver that knows the type, or to one that takes the server's time zone for the client's. */
const DECODED: Readonly<Record<string, (raw: unknown) => unknown>> = {
  MySqlJson: raw => typeof raw === 'string' ? JSON.parse(raw) : raw,
}

const ENCODED: Readonly<Record<string, (value: unknown) => unknown>> = {
  MySqlDate: value => value instanceof Date ? value.toISOString().slice(0, 10) : value,
}

/** Types that a custom column may have and that have no order, and some no equality, in their database. */
const INCOMPARABLE = /^(?:jsonb?|jsonpath|xml|xid|point|line|lseg|box|path|polygon|circle|geometry|linestring|multi\w+)\b/i

/** A value computed from a column, in the form in which the column's own values are selected. */
export function selectExactly({ column }: Field, value: SQL): SQL {
  return EXACT[column.columnType]?.(value) ?? value
}

/** The one place where values become a driver's. SQLite keeps no booleans, and MySQL's drivers know bytes as a Buffer only. */
function toScalar(column: Column, value: unknown): unknown {
  if (typeof value === 'string') return value
  if (value === null || is(value, SQL)) return value
  if (!isScalar(value)) {
    const name = `${getTableName(column.table)}.${column.name}`
    throw new TypeError(`[auto-api] \`${name}\` was given a value that no driver takes. A custom type needs `
      + 'a `toDriver` that returns text, a number, a boolean, a date or bytes.')
  }
  if (typeof value === 'boolean' && column.columnType.startsWith('SQLite')) return Number(value)
  // Postgres knows the type of the place; drivers would guess it from the value.
  if (column.columnType === 'PgCustomColumn' && typeof value !== 'object' && !/^bool/i.test(column.getSQLType())) return String(value)
  if (globalThis.Buffer.isBuffer(value)) return value
  if (ArrayBuffer.isView(value)) return globalThis.Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? globalThis.Buffer.from(value) : value
}

/** @param schema the column's own Zod schema: lengths, ranges, enum values. */
export function createField(facts: ColumnFacts, index: number, schema: ZodType): Field {
  const { column, kind } = facts
  const wire = WIRE_FORMATS[kind]
  const holds = createValueTest(column, kind)
  const isDriverValue = createDriverValueTest(column, kind)
  const fits = (value: unknown) => value !== INVALID && holds(value) && schema.safeParse(value).success
  const checked = (value: unknown) => fits(value) ? value : INVALID
  const exact = EXACT[column.columnType]
  const fromDriver = DECODED[column.columnType] ?? ((raw: unknown) => column.mapFromDriverValue(raw))
  const toDriver = ENCODED[column.columnType] ?? ((value: unknown) => column.mapToDriverValue(value))
  const compare = COMPARED[column.columnType]
  const comparable = kind !== 'json' && kind !== 'blob' && !(kind === 'custom' && INCOMPARABLE.test(column.getSQLType()))
  const bytes = bytewise(column)
  const anyText = kind === 'text' && column.columnType.startsWith('SQLite')
  const decodes = exact !== undefined || column.mapFromDriverValue !== Column.prototype.mapFromDriverValue
  const say = (value: unknown) => wire.toJson ? wire.toJson(value) : value instanceof Date ? toIso(value) : value
  return Object.freeze({
    name: facts.name,
    column,
    kind,
    nullable: facts.nullable,
    ordered: comparable && column.columnType !== 'SQLiteBigInt',
    optional: facts.optional,
    generated: facts.generated,
    index,
    selection: exact ? exact(sql`${column}`) : sql`${column}`,
    ...compare && { compare: (value: SQL) => compare(value, column) },
    ...bytes && { bytes },
    comparable: comparable && column.columnType !== 'MySqlFloat',
    ...decodes && { decode: (raw: unknown) => raw === null || raw === undefined ? null : fromDriver(raw) },
    ...decodes && { toWire: (raw: unknown) => raw === null || raw === undefined ? null : say(fromDriver(raw)) },
    ...!decodes && wire.toJson && { toWire: (raw: unknown) => raw === null || raw === undefined ? null : say(raw) },
    encode: value => value === null || value === undefined ? null : toScalar(column, toDriver(value)),
    ...wire.toJson && { toJson: (value: unknown) => value === null || value === undefined ? null : wire.toJson!(value) },
    fits,
    isDriverValue: (raw) => {
      if (!isDriverValue(raw)) return false
      const value = decodes ? fromDriver(raw) : raw
      // A table may hold dates beyond those that a client can write, and SQLite text of any length, of no enum.
      return (kind === 'date' || holds(value)) && (anyText || schema.safeParse(value).success)
    },
    ...EXPECTED_OF[column.columnType] && { expected: EXPECTED_OF[column.columnType] },
    fromWire: (json) => {
      const value = wire.fromJson(json)
      return value === INVALID || holds(value) ? value : INVALID
    },
    fromJson: value => checked(wire.fromJson(value)),
    fromText: text => checked(wire.fromText(text)),
  } satisfies Field)
}

/**
 * The text of a path or an `ids` entry to the key value it stands for, or `UNFIT`.
 * Only the canonical spelling counts (`1`, not `01` or `1e0`), so that one row has one address.
 */
export function keyFromText(field: Field, text: string): unknown {
  const value = field.fromText(text)
  return value !== INVALID && keyToText(field, value) === text ? value : INVALID
}

export function keyToText(field: Field, value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(field.toJson ? field.toJson(value) : value)
}
