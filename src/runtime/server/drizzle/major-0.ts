/** Drizzle 0.45. */
import type { Column, Query, Table } from 'drizzle-orm'
import { Column as ColumnClass } from 'drizzle-orm'
import { createInsertSchema, createSelectSchema, createUpdateSchema } from 'drizzle-zod'
import type { Kind } from '../../shared/wire'
import type { BatchResult, BatchSession, Columns, DrizzleDialect, DrizzleMajor, Elements, SynchronousQuery } from './major'
import { ELEMENT_DECODERS, eachElement, isBytesType, isExactType, isTimeTextType, isWholeType, toBytes, toShortFloat } from './column-types'
import { parseArray } from './pg-array'
import { toStoredTime } from './time-text'
import { sendBatch } from './batch'

const KINDS: Readonly<Record<string, Kind>> = {
  boolean: 'boolean', date: 'date', bigint: 'bigint', buffer: 'blob', json: 'json', array: 'json',
}

function kindOf({ dataType, columnType }: Column): Kind {
  if (isTimeTextType(columnType)) return 'date'
  if (isBytesType(columnType)) return 'custom'
  if (dataType === 'string') return isExactType(columnType) ? 'decimal' : 'text'
  if (dataType === 'number') return isWholeType(columnType) ? 'integer' : 'number'
  return KINDS[dataType] ?? 'custom'
}

function elementsOf(column: Column): Elements | undefined {
  if (column.columnType !== 'PgArray') return undefined
  const { baseColumn } = column as Column & { readonly baseColumn: Column }
  const inner = elementsOf(baseColumn)
  return inner
    ? { ...inner, depth: inner.depth + 1 }
    : { type: baseColumn.columnType, kind: kindOf(baseColumn), column: baseColumn, depth: 1 }
}

const parseJson = (raw: unknown): unknown => typeof raw === 'string' ? JSON.parse(raw) : raw

/** Drizzle relies on the drivers for JSON, and would parse JSON text twice. */
const DECODERS: Readonly<Record<string, (raw: unknown) => unknown>> = {
  MySqlJson: parseJson,
  PgJson: parseJson,
  PgJsonb: parseJson,
  MySqlBinary: toBytes,
  MySqlVarBinary: toBytes,
  MySqlFloat: raw => toShortFloat(Number(raw)),
}

const ENCODERS: Readonly<Record<string, (value: unknown, column: Column) => unknown>> = {
  MySqlDate: value => value instanceof Date ? value.toISOString().slice(0, 10) : value,
  MySqlFloat: value => Math.fround(Number(value)),
  PgTimestampString: toStoredTime,
  MySqlDateTimeString: toStoredTime,
  MySqlTimestampString: toStoredTime,
}

function decoderOf(column: Column): ((raw: unknown) => unknown) | undefined {
  const elements = elementsOf(column)
  if (!elements) return ownDecoderOf(column)
  const decode = ELEMENT_DECODERS[elements.type] ?? ownDecoderOf(elements.column) ?? (value => value)
  return raw => eachElement(typeof raw === 'string' ? parseArray(raw) : raw, decode)
}

const ownDecoderOf = (column: Column) => DECODERS[column.columnType]
  ?? (column.mapFromDriverValue === ColumnClass.prototype.mapFromDriverValue ? undefined : (raw: unknown) => column.mapFromDriverValue(raw))

interface Casing { readonly casing: { readonly getColumnCasing: (column: Column) => string } }

const columns: Columns = {
  typeOf: column => column.columnType,
  sqlTypeOf: column => column.getSQLType(),
  kindOf,
  tableOf: column => column.table,
  elementsOf,
  decoderOf,
  encode: (column, value) => ENCODERS[column.columnType]?.(value, column) ?? column.mapToDriverValue(value),
  isConvertedByDialect: () => false,
  nameOf: (dialect: DrizzleDialect & Partial<Casing>, column) => dialect.casing!.getColumnCasing(column),
}

interface Prepared {
  readonly execute: () => Promise<unknown>
  readonly run: () => Promise<unknown>
  readonly values: () => Promise<readonly (readonly unknown[])[]>
}

/** The arguments after the query differ between the dialects. */
interface Session<P = Prepared> { readonly prepareQuery: (query: Query, ...rest: unknown[]) => P }

const rowsOf = async (result: Promise<unknown>) => await result as readonly (readonly unknown[])[]

/** With a custom mapper, a session returns each row as an array. */
const unmapped = (rows: unknown) => rows

const batch: BatchSession = {
  rows: (session, query) => (session as Session).prepareQuery(query, undefined, 'all', true).values(),
  commit: (session, queries) => sendBatch(session, queries, query =>
    (session as Session<{ readonly stmt: unknown }>).prepareQuery(query, undefined, 'all', true).stmt),
  toBuiltQuery(builder) {
    const { _prepare } = builder as { _prepare?: () => BuiltPrepared }
    if (typeof _prepare !== 'function') return undefined
    const prepared = _prepare.call(builder)
    return { query: prepared.getQuery(), toResult: result => prepared.mapResult(result, true) }
  },
}

interface BuiltPrepared {
  readonly getQuery: () => Query
  readonly mapResult: (result: BatchResult, fromBatch: true) => unknown
}

const toPrepared = (session: object, query: Query, ...rest: unknown[]) => (session as Session).prepareQuery(query, ...rest)

/** The members of a statement that Drizzle has prepared with better-sqlite3. */
interface SynchronousPrepared extends SynchronousQuery {
  readonly query?: Query
  readonly logger?: { readonly logQuery: (text: string, values: unknown[]) => void }
  readonly stmt?: {
    readonly raw: () => { readonly all: (...values: unknown[]) => readonly (readonly unknown[])[] }
    readonly run: (...values: unknown[]) => { readonly changes: number }
  }
}

/**
 * Binds the values by their positions. Drizzle would look at each parameter, and then find its value by name. For four parameters, that
 * takes up to half as long as SQLite takes to read a row. The app's logger receives the same query.
 */
function toPositional(prepared: SynchronousPrepared): SynchronousQuery {
  const { query, logger, stmt } = prepared
  if (!query || !logger || !stmt) return prepared
  let rows: ReturnType<typeof stmt.raw> | undefined
  return {
    values(values) {
      logger.logQuery(query.sql, values as unknown[])
      // Statements without rows have no such mode.
      rows ??= stmt.raw()
      return rows.all(...values)
    },
    run(values) {
      logger.logQuery(query.sql, values as unknown[])
      return stmt.run(...values)
    },
  }
}

const schema = (create: (table: Table, refinements: never) => unknown) => (table: Table, refinements: object) =>
  create(table, refinements as never)

export const drizzle: DrizzleMajor = Object.freeze({
  columns,
  textOf: chunk => chunk.value.join(''),
  sessions: {
    pg: {
      rows: (session, query) => rowsOf(toPrepared(session, query, undefined, undefined, true, unmapped).execute()),
      named: (session, query, name) => rowsOf(toPrepared(session, query, undefined, name, true, unmapped).execute()),
      run: (session, query) => toPrepared(session, query, undefined, undefined, false).execute(),
    },
    mysql: {
      rows: (session, query) => rowsOf(toPrepared(session, query, undefined, unmapped).execute()),
      run: (session, query) => toPrepared(session, query, undefined).execute(),
    },
    sqlite: {
      rows: (session, query) => toPrepared(session, query, undefined, 'all', true).values(),
      run: (session, query) => toPrepared(session, query, undefined, 'run', false).run(),
    },
    prepareSynchronous: (session, query) =>
      toPositional((session as Session<SynchronousPrepared>).prepareQuery(query, undefined, 'all', true)),
    batch,
  },
  schemas: { insert: schema(createInsertSchema), update: schema(createUpdateSchema), select: schema(createSelectSchema) },
} satisfies DrizzleMajor)
