/** Finds out which rows a caller can read, and which of them the caller could read as they were stored before. */
import { aliasedTable, getTableName, sql, type Table } from 'drizzle-orm'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { toId, toKey } from '../../schema/record-id'
import { allFields, keyFields, type Selection } from '../access/fields'
import type { RowRules } from '../access/plan'
import { readRules } from '../access/row-scope'
import type { Call } from '../request/session'
import { memoized } from '../memoized'
import { and, boundValue, whereClause } from '../sql/conditions'
import { inTuples } from '../sql/list/index'
import { parameterize, statement } from '../sql/parameterize'
import { commaList, joined, value, where, word, type Where } from '../sql/where'
import { decoder, valuesAt, type RecordValues } from './rows/decode'
import { selectList } from './rows/select'

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
}

/** Resolves the rules for the rows that the caller can read. They stay as they are now. It checks no permission. */
export async function resolveReadable(call: Call): Promise<ReadableRows> {
  const { resource, engine, memo } = call
  const current = await readRules(call, resource)
  const table = storedTable(resource)
  const stored = table === resource.table ? current : await readRules(call, resource, table)
  const { key, values } = parameterize(engine, and(current.scope), memo)
  return { call, current, stored, text: key, values, isJudged: current.accepts !== undefined }
}

export interface Questions {
  /** Ids of rows as they are now. */
  readonly ids: readonly string[]
  /** Whole rows as they were stored before, with values as Drizzle returns them. */
  readonly rows: readonly RecordValues[]
}

export interface Visible {
  /** The ids of the rows that the caller can read now. */
  readonly now: ReadonlySet<string>
  /**
   * The ids of the rows that the caller could read as they were, with the number of their states that the caller could read. What a rule
   * reads in other tables is as it is now.
   */
  readonly before: ReadonlyMap<string, number>
}

/** The most ids, and the most stored rows, of one statement. SQLite combines at most 500 queries. */
const MAX_IDS = 500
const MAX_ROWS = 256

/** Runs one statement for at most 500 ids and as many stored rows as fit beside them. */
export async function findVisible(readable: ReadableRows, { ids, rows }: Questions): Promise<Visible> {
  const { resource, engine } = readable.call
  const keyParameters = 2 * MAX_IDS * resource.primaryKey.length
  const maxRows = Math.max(1, Math.min(MAX_ROWS, Math.floor((engine.maxParameters - keyParameters) / storedFields(resource).length)))
  const count = Math.max(Math.ceil(ids.length / MAX_IDS), Math.ceil(rows.length / maxRows))
  const visible = { now: new Set<string>(), before: new Map<string, number>() }
  for (let index = 0; index < count; index++) {
    const part = <T>(list: readonly T[], size: number) => list.slice(index * size, (index + 1) * size)
    await find(readable, { ids: part(ids, MAX_IDS), rows: part(rows, maxRows) }, visible)
  }
  return visible
}

async function find(
  readable: ReadableRows, { ids, rows }: Questions, { now, before }: { readonly now: Set<string>, readonly before: Map<string, number> },
): Promise<void> {
  const { call, current, stored, isJudged } = readable
  const { resource, engine } = call
  const columns = isJudged ? allFields(resource) : keyFields(resource)
  const queries = [
    ...ids.length > 0 ? [currentQuery(readable, columns, ids)] : [],
    ...rows.length > 0 ? [storedQuery(readable, columns, rows)] : [],
  ]
  const found = await engine.query(statement(call, joined(queries, ' union all ')))
  const decode = decoder(columns)
  const keyOf = valuesAt(columns, resource.primaryKey)
  for (const [position, ...values] of found) {
    const index = Number(position)
    if (index < 0) {
      const key = keyOf(values).map((value, index) => resource.primaryKey[index]!.decode?.(value) ?? value)
      if (!current.accepts || await current.accepts(decode(values))) now.add(toId(resource, key))
      continue
    }
    // The last row is repeated to fill up the statement.
    const row = rows[index]
    if (!row || (stored.accepts && !await stored.accepts(row))) continue
    const id = toId(resource, resource.primaryKey.map(({ name }) => row[name]))
    before.set(id, (before.get(id) ?? 0) + 1)
  }
}

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
function storedQuery({ call: { resource }, stored: { scope } }: ReadableRows, columns: Selection, rows: readonly RecordValues[]): Where {
  const fields = storedFields(resource)
  const count = 2 ** Math.ceil(Math.log2(rows.length))
  const typed = commaList(fields.map(({ column }) => where`${column} as ${sql.identifier(column.name)}`))
  const values = Array.from({ length: Math.min(count, MAX_ROWS) }, (_, index) => {
    const row = rows[Math.min(index, rows.length - 1)]!
    return where`select ${value(index)}, ${commaList(fields.map(field => boundValue(field, row[field.name] ?? null)))}`
  })
  const stored = joined([where`select 0 as ${POSITION}, ${typed} from ${resource.table} where 1 = 0`, ...values], ' union all ')
  const name = sql.identifier(getTableName(storedTable(resource)))
  const nothing = commaList(columns.fields.map(() => word('null')))
  return where`select ${POSITION}, ${nothing} from (${stored}) as ${name}${whereClause(scope)}`
}

const storedFields = memoized((resource: Resource): readonly Field[] => [...resource.fields.values()].filter(({ stored }) => stored))

/** SQL names a table of a schema by both, so rows that take its place need an alias. */
const storedTable = memoized(({ table }: Resource): Table => schemaOf(table) === undefined ? table : aliasedTable(table, 'auto_api_stored'))

const schemaOf = (table: Table) => (table as unknown as Record<symbol, string | undefined>)[Symbol.for('drizzle:Schema')]
