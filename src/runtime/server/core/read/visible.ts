/** Finds out which rows a caller can read, and which of them the caller could read as they were stored before. */
import { aliasedTable, getTableName, sql, type Table } from 'drizzle-orm'
import { expressionOf } from '../../schema/drizzle/expression'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { toId, toKey } from '../../schema/record-id'
import { allFields, allFieldsAnd, keyFields, select, type Selection } from '../access/fields'
import type { RowRules } from '../access/plan'
import { readRules } from '../access/row-scope'
import type { Call } from '../request/session'
import { memoized } from '../memoized'
import { and } from '../sql/conditions'
import { inTuples } from '../sql/list/index'
import { parameterize, statement } from '../sql/parameterize'
import { asSql, commaList, EMPTY, joined, value, where, word, type Where } from '../sql/where'
import { decoder, valuesAt, type RecordValues } from './rows/decode'
import { selectList } from './rows/select'
import { earlierTables, resourcesIn, type FindEarlier } from './earlier-tables'
import { schemaOf, storedColumns, storedFields, storedValues } from './stored-rows'

/** The rows that a caller can read, for many questions about them. */
export interface ReadableRows {
  readonly call: Call
  /** The rules on the resource's table. */
  readonly current: RowRules
  /** The rules on {@link storedTable}. */
  readonly stored: RowRules
  /** The SQL of the rules and its values. Callers with equal ones can read the same rows, if no rule runs in code. */
  readonly text: string
  readonly values: readonly unknown[]
  /** Whether a rule runs in code, which can treat two callers differently. */
  readonly isJudged: boolean
  /** The resources whose tables the rules read. */
  readonly reads: readonly Resource[]
  /** Runs one statement for at most 500 ids and as many stored rows as fit beside them. */
  readonly find: (questions: Questions) => Promise<Visible>
}

/** Resolves the rules for the rows that the caller can read. They stay as they are now. It checks no permission. */
export async function resolveReadable(call: Call): Promise<ReadableRows> {
  const { resource, engine, memo } = call
  const current = await readRules(call, resource)
  const table = storedTable(resource)
  const stored = table === resource.table ? current : await readRules(call, resource, table)
  const { key, values } = parameterize(engine, and(current.scope), memo)
  const readable: ReadableRows = {
    call, current, stored, text: key, values, isJudged: current.accepts !== undefined,
    reads: resourcesIn(call, current.scope), find: questions => findVisible(readable, questions),
  }
  return readable
}

export interface Questions {
  /** Ids of rows as they are now. */
  readonly ids: readonly string[]
  /** Whole rows as they were stored before, with values as Drizzle returns them. */
  readonly rows: readonly RecordValues[]
  /** Whether the answer contains the rows as they are now. */
  readonly whole?: boolean
  /** Finds the rows that have changed of a resource whose table the rules read. */
  readonly earlier: FindEarlier
}

export interface Visible {
  /** The rows that the caller can read now, by their ids: with the key and the computed fields, or whole. */
  readonly now: ReadonlyMap<string, RecordValues>
  /**
   * The stored rows that the caller could read, each with the values that its computed fields had. What a rule reads in other tables is as
   * it was before, if that is known.
   */
  readonly before: ReadonlyMap<RecordValues, RecordValues>
}

/** The most ids, and the most stored rows, of one statement. SQLite combines at most 500 queries. */
const MAX_IDS = 500
const MAX_ROWS = 256

async function findVisible(readable: ReadableRows, { ids, rows, whole = false, earlier }: Questions): Promise<Visible> {
  const { resource, engine } = readable.call
  const keyParameters = 2 * MAX_IDS * resource.primaryKey.length
  const fitting = Math.min(MAX_ROWS, (engine.maxParameters - keyParameters) / (storedFields(resource).length + 1))
  // A statement has a power of two of them.
  const maxRows = 2 ** Math.floor(Math.log2(Math.max(1, fitting)))
  const count = Math.max(Math.ceil(ids.length / MAX_IDS), Math.ceil(rows.length / maxRows))
  const visible = { now: new Map<string, RecordValues>(), before: new Map<RecordValues, RecordValues>() }
  for (let index = 0; index < count; index++) {
    const part = <T>(list: readonly T[], size: number) => list.slice(index * size, (index + 1) * size)
    await find(readable, { ids: part(ids, MAX_IDS), rows: part(rows, maxRows), whole, earlier }, visible)
  }
  return visible
}

interface Found {
  readonly now: Map<string, RecordValues>
  readonly before: Map<RecordValues, RecordValues>
}

async function find(
  readable: ReadableRows, { ids, rows, whole = false, earlier }: Questions, { now, before }: Found,
): Promise<void> {
  const { call, current, stored, isJudged } = readable
  const { resource, engine } = call
  const columns = isJudged || whole ? wholeRow(resource) : keyAndComputed(resource)
  const queries = [
    ...ids.length > 0 ? [currentQuery(readable, columns, ids)] : [],
    ...rows.length > 0 ? [storedQuery(readable, columns, rows)] : [],
  ]
  const tables = rows.length > 0 ? earlierTables(call, readable.reads, earlier) : undefined
  // The other tables take their places for a whole statement, so the rows as they are now need one of their own.
  const statements = tables ? [...queries.slice(0, -1), where`with ${tables} ${queries.at(-1)!}`] : [joined(queries, ' union all ')]
  const found = []
  for (const one of statements) found.push(...await engine.query(statement(call, one)))
  const decode = decoder(columns)
  const toRow = isJudged ? decoder(columns, allFields(resource)) : undefined
  const keyOf = valuesAt(columns, resource.primaryKey)
  for (const [position, ...values] of found) {
    const index = Number(position)
    if (index < 0) {
      const key = keyOf(values).map((value, index) => resource.primaryKey[index]!.decode?.(value) ?? value)
      if (!current.accepts || await current.accepts(toRow!(values))) now.set(toId(resource, key), decode(values))
      continue
    }
    // The last row is repeated to fill up the statement.
    const row = rows[Math.min(index, rows.length - 1)]!
    if (!stored.accepts || await stored.accepts(row)) before.set(row, decode(values))
  }
}

/** Computed fields whose values depend on nothing but their row. They change with it, also with columns that the caller cannot read. */
const isOwnComputed = ({ stored, volatile, column }: Field) => !stored && !volatile && !(expressionOf(column)?.readsRows ?? true)

/** Their SQL names the table, which rows of a schema cannot take the place of. */
const computedFields = memoized((resource: Resource): readonly Field[] =>
  schemaOf(resource.table) === undefined ? [...resource.fields.values()].filter(isOwnComputed) : [])
const wholeRow = memoized((resource: Resource): Selection => allFieldsAnd(resource, computedFields(resource)))
const keyAndComputed = memoized((resource: Resource): Selection => computedFields(resource).length === 0
  ? keyFields(resource)
  : select(resource, field => resource.primaryKey.includes(field) || computedFields(resource).includes(field)))

/** `select -1, id from posts where id in (…) and …` */
function currentQuery({ call: { resource, engine }, current: { scope } }: ReadableRows, columns: Selection, ids: readonly string[]): Where {
  const keys = ids.flatMap((id) => {
    const key = toKey(resource, id)
    return key ? [key.map((value, index) => resource.primaryKey[index]!.encode(value))] : []
  })
  const isNamed = inTuples(engine, resource.primaryKey, keys)
  return where`select -1, ${selectList(columns)} from ${resource.table} where ${and([isNamed, ...scope])}`
}

const POSITION = sql.identifier('auto_api_position')

/**
 * `select p, null from (select 0 as p, id as id, … from posts where 1 = 0 union all select 0, ?, … union all select 1, ?, …) as posts
 * where …`: the rules apply to rows that are no longer stored so. The empty query gives each value the type of its column. The number of
 * rows is a power of two, so that few statements are prepared.
 */
function storedQuery(
  { call: { resource, engine }, stored: { scope } }: ReadableRows, columns: Selection, rows: readonly RecordValues[],
): Where {
  const count = 2 ** Math.ceil(Math.log2(rows.length))
  const values = Array.from({ length: count }, (_, index) => {
    const row = rows[Math.min(index, rows.length - 1)]!
    return where`select ${value(index)}, ${commaList(storedValues(engine, resource, row))}`
  })
  const typed = where`select 0 as ${POSITION}, ${storedColumns(resource)} from ${resource.table} where 1 = 0`
  const stored = joined([typed, ...values], ' union all ')
  const rules = scope.length === 0 ? EMPTY : where` where ${engine.adapter.ofWholeUnion(asSql(and(scope)))}`
  const name = sql.identifier(getTableName(storedTable(resource)))
  const computed = commaList(columns.fields.map(field => field.stored ? word('null') : field.selection))
  return where`select ${POSITION}, ${computed} from (${stored}) as ${name}${rules}`
}

/** SQL names a table of a schema by both, so rows that take its place need an alias. */
const storedTable = memoized(({ table }: Resource): Table => schemaOf(table) === undefined ? table : aliasedTable(table, 'auto_api_stored'))
