/**
 * A field is a column of a resource, or a computed field. It reads, writes and validates values, and converts them to JSON. Created once at
 * startup.
 */
import { getTableName, is, sql, SQL, type Column } from 'drizzle-orm'
import type { ZodType } from 'zod'
import { once } from '../../shared/once'
import { INVALID, type Kind } from '../../shared/wire'
import { decoderOf, elementsOf, encodeValue, sqlTypeOf, tableOf, typeOf } from '../drizzle/index'
import type { Bytewise } from '../engines/dialects/adapter'
import { bytewise } from '../engines/dialects/index'
import { mysqlEnum, mysqlNumber } from '../engines/dialects/mysql'
import type { WireConversion } from '../registration'
import { wireOf } from './column-wire'
import { readsDriverValues } from './custom-wire'
import type { ColumnFacts } from './drizzle/column'
import { viewKindOf } from './drizzle/view'
import { createValueTest, expectedOf } from './column-values'
import { isScalar } from '../engines/driver-scalar'
import { LateValue } from '../engines/engine'
import { createDriverValueTest, createInfiniteTest } from './driver-values'
import { createTimeReader } from './time-text'

export { INVALID }

export interface Field {
  /** The property name in the table. Requests and responses use the same name. */
  readonly name: string
  readonly column: Column
  /** Whether the table has the column. False for a computed field, which no statement writes. */
  readonly stored: boolean
  /** Whether responses contain the field only if the request names it. */
  readonly lazy?: true
  /** Whether the values change without a write, so that no cursor can contain one. */
  readonly volatile?: true
  /** Whether entity tags cover the field. False if its values change without a write to its row. */
  readonly tagged: boolean
  /** The resources whose commits change the values besides those of the field's own resource. */
  readonly tracks?: readonly string[]
  /** The kind of the values in the database. */
  readonly kind: Kind
  /** The kind of the JSON values. It differs from `kind` for a custom type, and for bytes that Drizzle reads as text. */
  readonly wire: Kind
  /** What JSON cannot represent, such as `Set`, if the column needs the option `wire` of the registration. */
  readonly missingWire?: string
  readonly nullable: boolean
  /** Whether the database can sort the values correctly. False for JSON, binary columns, and numbers that SQLite stores as bytes. */
  readonly ordered: boolean
  readonly optional: boolean
  readonly generated: boolean
  /** The position of the column in the table. Responses list fields in this order. */
  readonly index: number
  /** Whether the column alone identifies a row. */
  readonly isKey: boolean
  /** The expression in a select list. */
  readonly selection: SQL
  /** Converts a parameter to the column's type for a write. Absent if the database does that. */
  readonly bind?: (value: SQL) => SQL
  /** Casts a parameter to the column's type for a comparison. Absent if the database compares correctly without a cast. */
  readonly compare?: (value: SQL) => SQL
  /** Compares values by bytes. Absent if the column's type has no collation. */
  readonly bytes?: Bytewise
  /** Whether `=` matches a value that was read from the column. False for JSON, binary columns, and numbers that a driver rounds. */
  readonly comparable: boolean
  /** Converts a driver value (null included) to the Drizzle value. Absent if both are the same. */
  readonly decode?: (raw: unknown) => unknown
  /** Converts a driver value (null included) directly to JSON, if no hook and no rule reads the value. Absent if both are the same. */
  readonly toWire?: (raw: unknown) => unknown
  /**
   * Converts a Drizzle value (null included) to the driver value: a scalar, or the SQL that a custom type returns.
   * @throws {TypeError} When the driver value is neither a scalar nor SQL, because no driver accepts it.
   */
  readonly encode: (value: unknown) => unknown
  /** Converts a Drizzle value (null included) to JSON. Absent if `JSON.stringify` converts it correctly. */
  readonly toJson?: (value: unknown) => unknown
  /** Whether a Drizzle value is within the column's limits: length, range, enum. */
  readonly fits: (value: unknown) => boolean
  /**
   * Whether a value in a client's cursor has the form in which a driver returns the column.
   * @throws When the value cannot be decoded.
   */
  readonly isDriverValue: (raw: unknown) => boolean
  /** The name of the column's values in error messages. */
  readonly expected: string
  /** Converts a JSON value (never null) to the Drizzle value or `INVALID`. Does not check length and enum values. */
  readonly fromWire: (value: unknown) => unknown
  /** Converts a JSON value to the Drizzle value, or to `INVALID` if it exceeds the column's limits. */
  readonly fromJson: (value: unknown) => unknown
  /** Converts text, such as a query parameter, in the same way as `fromJson`. */
  readonly fromText: (text: string) => unknown
}

/**
 * Selects values in a form that keeps every digit. SQLite drivers return 64-bit integers as doubles, so such columns are selected as
 * text. Other SQLite numbers need no conversion, because SQLite stores them as doubles.
 */
const EXACT_SELECTIONS: Readonly<Record<string, (value: SQL) => SQL>> = {
  SQLiteNumericBigInt: value => sql`cast(${value} as text)`,
  // MySQL drivers also return 64-bit integers as doubles.
  MySqlBigInt64: value => sql`cast(${value} as char)`,
  MySqlSerial64: value => sql`cast(${value} as char)`,
  // MySQL drivers parse JSON, except from MariaDB, which stores it as text. The cast makes both return text.
  MySqlJson: value => sql`cast(${value} as char)`,
  // MySQL writes a single-precision number with six digits. As a double, it keeps all of them.
  MySqlFloat: value => sql`${value} + 0e0`,
  // Drivers parse JSON. Drizzle would then parse a text that looks like JSON once more.
  PgJson: value => sql`cast(${value} as text)`,
  PgJsonb: value => sql`cast(${value} as text)`,
  SQLiteNumeric: exactNumeric,
  SQLiteNumericNumber: exactNumeric,
}

/** SQLite stores a number without a fraction as an integer. libSQL's driver refuses to read an integer that a double cannot hold. */
function exactNumeric(value: SQL): SQL {
  return sql`case typeof(${value}) when 'integer' then cast(${value} as text) else ${value} end`
}

/** Casts for writes. As a parameter of a JSON type, some drivers would convert the JSON text to JSON once more. */
const WRITE_CASTS: Readonly<Record<string, (value: SQL) => SQL>> = {
  json: value => sql`cast(cast(${value} as text) as json)`,
  jsonb: value => sql`cast(cast(${value} as text) as jsonb)`,
}

/** Includes columns of custom types. */
const writeCast = (column: Column, type: string) => type.startsWith('Pg') ? WRITE_CASTS[sqlTypeOf(column).toLowerCase()] : undefined

/** Casts for comparisons. Without a cast, MySQL compares the text of a number as a double, and an enum as text. */
const COMPARISON_CASTS: Readonly<Record<string, (value: SQL, column: Column) => SQL>> = {
  MySqlBigInt64: mysqlNumber,
  MySqlDecimal: mysqlNumber,
  MySqlDecimalBigInt: mysqlNumber,
  MySqlDecimalNumber: mysqlNumber,
  MySqlEnumColumn: mysqlEnum,
  MySqlEnumObjectColumn: mysqlEnum,
}

/**
 * Casts for comparisons with a column of a view. A column of a SQLite table converts the text of a number that it is compared with, but an
 * expression does not.
 */
const COMPARISON_CASTS_IN_VIEWS: typeof COMPARISON_CASTS = Object.fromEntries(
  ['SQLiteNumeric', 'SQLiteNumericNumber', 'SQLiteNumericBigInt'].map(type => [type, value => sql`cast(${value} as numeric)`]),
)

/** Types of custom columns that the database cannot order, or cannot even test for equality. */
const INCOMPARABLE = /^(?:jsonb?|jsonpath|xml|xid|point|line|lseg|box|path|polygon|circle|geometry|linestring|multi\w+)\b/i

/** Types that one driver of Postgres parses and another one does not. A custom type without `fromDriver` reads them as text. */
const PARSED_BY_DRIVERS = /^(?:point|circle)\b/i

function exactSelection(column: Column): ((value: SQL) => SQL) | undefined {
  const isCustom = typeOf(column) === 'PgCustomColumn' && PARSED_BY_DRIVERS.test(sqlTypeOf(column)) && readsDriverValues(column)
  // Arrays are read as text, because postgres.js reads their NULL as the text `NULL`.
  const elements = elementsOf(column)
  const isArray = elements && elements.type !== 'PgCustomColumn'
  return isCustom || isArray ? value => sql`cast(${value} as text)` : EXACT_SELECTIONS[typeOf(column)]
}

/** Selects an expression over a column in the same form as the column itself. */
export function selectExactly({ column }: Field, value: SQL): SQL {
  return exactSelection(column)?.(value) ?? value
}

/** Whether the database, or an earlier statement of the commit, makes the value. It needs no conversion. */
const isOfCommit = (value: unknown) => typeof value === 'object' && (value instanceof LateValue || is(value, SQL))

/** Converts a value to a scalar that every driver accepts. SQLite has no booleans. MySQL drivers accept bytes only as a Buffer. */
function toScalar(column: Column, value: unknown): unknown {
  if (typeof value === 'string') return value
  if (value === null || is(value, SQL)) return value
  if (!isScalar(value)) {
    const name = `${getTableName(tableOf(column))}.${column.name}`
    throw new TypeError(`[auto-api] \`${name}\` received a value that no driver accepts. A custom type needs `
      + 'a `toDriver` that returns text, a number, a boolean, a date or bytes.')
  }
  if (typeof value === 'boolean' && typeOf(column).startsWith('SQLite')) return Number(value)
  // Postgres infers the type of a text parameter from its context. For other values, drivers guess the type from the value.
  if (typeOf(column) === 'PgCustomColumn' && typeof value !== 'object' && !/^bool/i.test(sqlTypeOf(column))) return String(value)
  if (globalThis.Buffer.isBuffer(value)) return value
  if (ArrayBuffer.isView(value)) return globalThis.Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? globalThis.Buffer.from(value) : value
}

const orNull = (convert: (value: unknown) => unknown) => (value: unknown) => value === null || value === undefined ? null : convert(value)

/**
 * @param create creates the Zod schema of the column, which checks length, range and enum values. Called when the first value is checked.
 * @param isKey whether the column alone identifies a row
 * @param conversion the `wire` option of the registration for this column
 */
export function createField(facts: ColumnFacts, index: number, create: () => ZodType, isKey = false, conversion?: WireConversion): Field {
  const { column, kind } = facts
  const type = typeOf(column)
  const wire = wireOf(facts, conversion)
  const canHold = createValueTest(column, kind)
  const isDriverValue = createDriverValueTest(column, kind)
  const isInfinite = createInfiniteTest(column, kind)
  const schema = once(create)
  const fits = (value: unknown) => value !== INVALID && canHold(value) && schema().safeParse(value).success
  const checked = (value: unknown) => fits(value) ? value : INVALID
  const exact = exactSelection(column)
  const decoder = decoderOf(column)
  const fromDriver = decoder ?? ((raw: unknown) => raw)
  const compare = COMPARISON_CASTS[type] ?? (viewKindOf(tableOf(column)) && COMPARISON_CASTS_IN_VIEWS[type])
  const bind = writeCast(column, type)
  const comparable = kind !== 'json' && kind !== 'blob' && !(kind === 'custom' && INCOMPARABLE.test(sqlTypeOf(column)))
  const bytes = bytewise(column)
  const unlimitedText = kind === 'text' && type.startsWith('SQLite')
  const decodes = exact !== undefined || decoder !== undefined
  const toJson = wire.toJson ?? (value => value)
  const toWire = (raw: unknown) => toJson(fromDriver(raw))
  const readTime = wire.kind === 'date' && decoder ? createTimeReader(decoder, sqlTypeOf(column)) : undefined
  return Object.freeze({
    name: facts.name,
    column,
    stored: true,
    tagged: true,
    kind,
    wire: wire.kind,
    ...wire.missing !== undefined && { missingWire: wire.missing },
    nullable: facts.nullable,
    ordered: comparable && type !== 'SQLiteBigInt',
    optional: facts.optional,
    generated: facts.generated,
    index,
    isKey,
    selection: exact ? exact(sql`${column}`) : sql`${column}`,
    ...bind && { bind },
    ...compare && { compare: (value: SQL) => compare(value, column) },
    ...bytes && { bytes },
    comparable: comparable && type !== 'MySqlFloat',
    ...decodes && { decode: orNull(fromDriver) },
    ...(decodes || wire.toJson) && { toWire: orNull(readTime ? raw => readTime(raw) ?? toWire(raw) : toWire) },
    encode: orNull(value => isOfCommit(value) ? value : toScalar(column, encodeValue(column, value))),
    ...wire.toJson && { toJson: orNull(wire.toJson) },
    fits,
    isDriverValue: (raw) => {
      if (!isDriverValue(raw)) return false
      const value = decodes ? fromDriver(raw) : raw
      // A table can contain dates that a client cannot write. SQLite also stores text of any length, and text that the enum does not list.
      return isInfinite(value) || ((kind === 'date' || canHold(value)) && (unlimitedText || schema().safeParse(value).success))
    },
    expected: expectedOf(column, kind),
    fromWire: (json) => {
      const value = wire.fromJson(json)
      return value === INVALID || canHold(value) ? value : INVALID
    },
    fromJson: value => checked(wire.fromJson(value)),
    fromText: text => checked(wire.fromText(text)),
  } satisfies Field)
}

/**
 * Converts the text of a path segment or of an `ids` entry to a key value, or to `INVALID`.
 * Accepts only the canonical form (`1`, not `01` or `1e0`), so that each row has one URL.
 */
export function keyFromText(field: Field, text: string): unknown {
  const value = field.fromText(text)
  return value !== INVALID && keyToText(field, value) === text ? value : INVALID
}

export function keyToText(field: Field, value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(field.toJson ? field.toJson(value) : value)
}
