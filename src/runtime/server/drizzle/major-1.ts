/**
 * Drizzle 1.0. Its columns no longer decode driver values: each driver has a table of codecs for that. The engines read the values that
 * the drivers return without codecs, so this file decodes them, in the same way for all drivers of a dialect.
 */
import type { Column, Query, StringChunk, Table } from 'drizzle-orm'
import { makePgArray } from 'drizzle-orm/pg-core'
// @ts-expect-error -- the version with which the repository is compiled lacks this entry
import { createInsertSchema, createSelectSchema, createUpdateSchema } from 'drizzle-orm/zod'
import type { Kind } from '../../shared/wire'
import { sendBatch } from './batch'
import { ELEMENT_DECODERS, eachElement, isBytesType, isExactType, isTimeTextType, isWholeType, toBytes, toShortFloat } from './column-types'
import type { BatchResult, BatchSession, Columns, DrizzleMajor, Elements, SynchronousQuery } from './major'
import { parseArray } from './pg-array'
import { toStoredTime } from './time-text'

type Convert = (value: unknown) => unknown

/** The members of a column that 1.0 added or changed. */
interface ColumnParts {
  /** A type and a constraint, such as `number int32`. */
  readonly dataType: string
  readonly columnType: string
  readonly dimensions?: number
  /** The name of the codec with which drivers convert values. */
  readonly codec?: string
  readonly withTimezone?: boolean
  readonly mode?: string
  readonly table: Table
  readonly mapFromDriverValue: Converter
  readonly mapToDriverValue: Converter
}

interface Converter {
  (value: unknown): unknown
  /** Whether the function returns its parameter. */
  readonly isNoop?: boolean
}

const partsOf = (column: Column): ColumnParts => column as unknown as ColumnParts

const KINDS: Readonly<Record<string, Kind>> = { 'boolean': 'boolean', 'bigint': 'bigint', 'object date': 'date', 'object buffer': 'blob' }

function elementKind({ dataType, columnType }: ColumnParts): Kind {
  if (isTimeTextType(columnType)) return 'date'
  if (isBytesType(columnType)) return 'custom'
  const [type] = dataType.split(' ') as [string]
  if (type === 'string') return isExactType(columnType) ? 'decimal' : 'text'
  if (type === 'number') return isWholeType(columnType) ? 'integer' : 'number'
  if (type === 'array') return 'json'
  return KINDS[dataType] ?? KINDS[type] ?? (type === 'object' ? 'json' : 'custom')
}

const isArray = ({ dimensions }: ColumnParts) => dimensions !== undefined && dimensions > 0

const typeOf = (parts: ColumnParts) => isArray(parts) && parts.columnType.startsWith('Pg') ? 'PgArray' : parts.columnType

function elementsOf(column: Column): Elements | undefined {
  const parts = partsOf(column)
  return isArray(parts) ? { type: parts.columnType, kind: elementKind(parts), column, depth: parts.dimensions! } : undefined
}

const fromText = (convert: (text: string) => unknown): Convert => raw => typeof raw === 'string' ? convert(raw) : raw

const toNumber = fromText(Number)

const toBigint: Convert = raw => BigInt(raw as string)

const toText: Convert = raw => typeof raw === 'string' ? raw : String(raw)

const toDate = fromText(text => new Date(text))

const isOne: Convert = raw => typeof raw === 'boolean' ? raw : raw === 1

/** The bytes of a blob. libSQL and D1 return an `ArrayBuffer` or a list of numbers. */
const toBuffer: Convert = raw => globalThis.Buffer.isBuffer(raw) ? raw : globalThis.Buffer.from(raw as Uint8Array)

const bytesToText: Convert = raw => typeof raw === 'string' ? raw : (toBuffer(raw) as Buffer).toString('utf8')

const coordinates = (text: string) => text.slice(1, -1).split(',').map(Number.parseFloat) as [number, number, number]

const toPoint: Convert = raw => typeof raw === 'string' ? coordinates(raw) : [(raw as Point).x, (raw as Point).y]

interface Point { readonly x: number, readonly y: number }

const DECODERS: Readonly<Record<string, (column: ColumnParts) => Convert>> = {
  SQLiteBoolean: () => isOne,
  SQLiteTimestamp: ({ mode }) => raw => new Date((raw as number) * (mode === 'timestamp' ? 1000 : 1)),
  SQLiteTextJson: () => raw => JSON.parse(raw as string),
  SQLiteBlobJson: () => raw => JSON.parse(bytesToText(raw) as string),
  SQLiteBlobBuffer: () => toBuffer,
  SQLiteBigInt: () => raw => BigInt(bytesToText(raw) as string),
  SQLiteNumeric: () => toText,
  SQLiteNumericNumber: () => toNumber,
  SQLiteNumericBigInt: () => toBigint,

  PgBigInt53: () => toNumber,
  PgBigSerial53: () => toNumber,
  PgBigInt64: () => toBigint,
  PgBigSerial64: () => toBigint,
  PgBigIntString: () => toText,
  PgNumeric: () => toText,
  PgNumericNumber: () => toNumber,
  PgNumericBigInt: () => toBigint,
  PgJson: () => fromText(text => JSON.parse(text)),
  PgJsonb: () => fromText(text => JSON.parse(text)),
  PgSmallInt: () => toNumber,
  PgInteger: () => toNumber,
  PgReal: () => toNumber,
  PgDoublePrecision: () => toNumber,
  PgDate: () => toDate,
  PgTimestamp: ({ withTimezone }) => withTimezone ? toDate : fromText(text => new Date(`${text}+0000`)),
  PgPointTuple: () => toPoint,
  PgPointObject: () => (raw) => {
    const [x, y] = toPoint(raw) as [number, number]
    return { x, y }
  },
  PgLine: () => fromText(coordinates),
  PgLineABC: () => fromText((text) => {
    const [a, b, c] = coordinates(text)
    return { a, b, c }
  }),

  MySqlBoolean: () => isOne,
  MySqlBigInt53: () => toNumber,
  MySqlBigInt64: () => toBigint,
  MySqlBigIntString: () => toText,
  MySqlSerial: () => toNumber,
  MySqlInt: () => toNumber,
  MySqlMediumInt: () => toNumber,
  MySqlSmallInt: () => toNumber,
  MySqlTinyInt: () => toNumber,
  MySqlDecimal: () => toText,
  MySqlDecimalNumber: () => toNumber,
  MySqlDecimalBigInt: () => toBigint,
  MySqlDate: () => toDate,
  MySqlDateTime: () => fromText(text => new Date(`${text.replace(' ', 'T')}Z`)),
  MySqlTimestamp: () => fromText(text => new Date(`${text}+0000`)),
  MySqlBinary: () => toBytes,
  MySqlVarBinary: () => toBytes,
  MySqlBlob: () => toBytes,
  MySqlFloat: () => raw => toShortFloat(Number(raw)),
  MySqlJson: () => fromText(text => JSON.parse(text)),
}

function decoderOf(column: Column): Convert | undefined {
  const parts = partsOf(column)
  const own = parts.mapFromDriverValue.isNoop ? undefined : (raw: unknown) => parts.mapFromDriverValue(raw)
  const decode = DECODERS[parts.columnType]?.(parts)
  if (!isArray(parts)) return own ?? decode
  return raw => own?.(toList(raw)) ?? eachElement(toList(raw), ELEMENT_DECODERS[parts.columnType] ?? decode ?? (value => value))
}

const toList: Convert = fromText(text => parseArray(text))

const ENCODERS: Readonly<Record<string, (value: unknown, column: Column) => unknown>> = {
  PgJson: value => JSON.stringify(value),
  PgJsonb: value => JSON.stringify(value),
  MySqlFloat: value => Math.fround(Number(value)),
  PgTimestampString: toStoredTime,
  MySqlDateTimeString: toStoredTime,
  MySqlTimestampString: toStoredTime,
  MySqlDate: value => value instanceof Date ? value.toISOString().slice(0, 10) : value,
}

/** 1.0 passes JSON and arrays to the driver as objects. The engines send text, which every driver accepts. */
function encode(column: Column, value: unknown): unknown {
  const parts = partsOf(column)
  const own = parts.mapToDriverValue.isNoop ? value : parts.mapToDriverValue(value)
  const encoder = ENCODERS[parts.columnType]
  const convert = encoder && ((value: unknown) => encoder(value, column))
  if (!isArray(parts)) return convert ? convert(own) : own
  return makePgArray((convert ? eachElement(own, convert) : own) as unknown[])
}

/** The codecs of Postgres that convert a parameter or add a cast. Those of the other databases do neither. */
const CONVERTED = /^(?:jsonb?|(?:half|sparse)?vec(?:tor)?|geometry)\b/

const columns: Columns = {
  sqlTypeOf: column => column.getSQLType() + '[]'.repeat(partsOf(column).dimensions ?? 0),
  typeOf: column => typeOf(partsOf(column)),
  kindOf: column => isArray(partsOf(column)) ? 'json' : elementKind(partsOf(column)),
  tableOf: column => partsOf(column).table,
  elementsOf,
  decoderOf,
  encode,
  isConvertedByDialect: column => isArray(partsOf(column)) || CONVERTED.test(partsOf(column).codec ?? ''),
  nameOf: (_dialect, column) => column.name,
}

interface Prepared {
  readonly execute: () => Promise<unknown>
  readonly run: () => Promise<unknown>
  readonly values: () => Promise<readonly (readonly unknown[])[]>
}

interface Session<P = Prepared> { readonly prepareQuery: (query: Query, mode: 'arrays' | 'objects' | 'raw', ...rest: unknown[]) => P }

const toPrepared = (session: object, query: Query, mode: 'arrays' | 'objects' | 'raw', ...rest: unknown[]) =>
  (session as Session).prepareQuery(query, mode, ...rest)

/** The sessions of Postgres and MySQL have the same arguments as far as this file uses them. */
const server = {
  rows: async (session: object, query: Query) => await toPrepared(session, query, 'arrays').execute() as readonly (readonly unknown[])[],
  run: (session: object, query: Query) => toPrepared(session, query, 'raw').execute(),
}

interface BuiltPrepared {
  readonly getQuery: () => Query
  readonly executeMethod: string
  readonly mode: 'arrays' | 'objects'
  readonly mapper?: (rows: readonly unknown[]) => unknown
}

const batch: BatchSession = {
  rows: (session, query) => toPrepared(session, query, 'arrays', false, 'values').values(),
  commit: (session, queries) => sendBatch(session, queries, query =>
    (session as Session<{ readonly stmt: unknown }>).prepareQuery(query, 'arrays', false, 'all').stmt),
  toBuiltQuery(builder) {
    const { _prepare } = builder as { _prepare?: () => BuiltPrepared }
    if (typeof _prepare !== 'function') return undefined
    const prepared = _prepare.call(builder)
    return { query: prepared.getQuery(), toResult: result => toResult(prepared, result) }
  },
}

function toResult({ executeMethod, mode, mapper }: BuiltPrepared, result: BatchResult): unknown {
  if (executeMethod === 'run') return result
  const rows = mode === 'arrays' ? result.results.map(row => Object.values(row)) : result.results
  const mapped = mapper ? mapper(rows) as readonly unknown[] : rows
  return executeMethod === 'get' ? mapped[0] : mapped
}

export const drizzle: DrizzleMajor = Object.freeze({
  columns,
  textOf: (chunk: StringChunk) => String(chunk.value as unknown),
  sessions: {
    pg: {
      ...server,
      named: async (session, query, name) =>
        await toPrepared(session, query, 'arrays', name).execute() as readonly (readonly unknown[])[],
    },
    mysql: server,
    sqlite: {
      rows: (session, query) => toPrepared(session, query, 'arrays', false, 'values').values(),
      run: (session, query) => toPrepared(session, query, 'objects', false, 'run').run(),
    },
    prepareSynchronous: (session, query) => (session as Session<SynchronousQuery>).prepareQuery(query, 'arrays', false, 'values'),
    batch,
  },
  schemas: { insert: createInsertSchema, update: createUpdateSchema, select: createSelectSchema },
} satisfies DrizzleMajor)
