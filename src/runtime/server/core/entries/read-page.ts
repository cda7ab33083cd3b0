/** Reads a page of a list for plugins: with a condition and computed columns of their own, within the row scope of the caller. */
import type { SQL } from 'drizzle-orm'
import type { Row } from '../../engines/engine'
import { select } from '../access/fields'
import { applyScope, type Scoped } from '../access/row-scope'
import type { Awaitable } from '../awaitable'
import type { ReadPlan } from '../plan/read-plan'
import { parseList, type Position } from '../parse/list'
import { toOffset, type Query } from '../parse/params'
import { countRows } from '../read/count'
import { decoder, type RecordValues } from '../read/rows/decode'
import { toRequestError } from '../read/rows/invalid-value'
import { readRows } from '../read/rows/rows'
import type { Call } from '../request/session'
import { createCursor, readCursor } from '../sql/cursor'
import { after, type Order } from '../sql/keyset'
import type { Part, Where } from '../sql/where'

export interface PageOptions {
  /** `limit`, `page`, `cursor` and `count` of the list route */
  readonly query: Query
  /** The fields to read, whatever the caller can read. */
  readonly fields: readonly string[]
  readonly where: Where
  /** A unique field. The newest rows come first if its values grow. */
  readonly newestBy: string
  /** A total beyond this number is a lower bound. */
  readonly maxTotal: number
  /** Writes the parameter of the limit. @default the parameter itself */
  readonly toLimit?: (limit: SQL) => SQL
  /**
   * Columns that the database computes for each row, in the statement of the page. It runs only if the page needs every row that is read.
   * @returns `undefined` if they are not computed there
   */
  readonly computed?: () => Awaitable<readonly Part[] | undefined>
}

export interface Page {
  /** As JSON. */
  readonly records: readonly RecordValues[]
  /** The computed columns of each record, if they are computed in the statement of the page. */
  readonly values?: readonly Row[]
  /** `meta` of the list route. `totalIsMore` says that the total is a lower bound. */
  readonly meta: object
}

/** @throws The errors of the list route for its parameters. */
export async function readPage(call: Call, options: PageOptions): Promise<Page> {
  const { resource } = call
  const { query, fields, maxTotal, toLimit } = options
  const { position, limit, count } = parseList({ query }, call)
  const order: readonly Order[] = [{ field: resource.fields.get(options.newestBy)!, descending: true }]
  const selection = select(resource, ({ name }) => fields.includes(name))
  const plan = await applyScope<ReadPlan>(call, {
    resource, trash: 'active', selection, where: [options.where], order, count: false, include: [],
  })
  try {
    const offset = position.mode === 'offset' ? toOffset(position.page, limit) : 0
    const computed = offset === 0 && !plan.accepts ? await options.computed?.() : undefined
    const start = startOf(position, order, call)
    const { columns, rows } = await readRows(plan, { start, offset, limit: limit + 1, toLimit, cursor: true, computed }, call)
    const shown = rows.slice(0, limit)
    const records = shown.map(decoder(columns, columns, 'wire'))
    const hasMore = rows.length > limit
    const meta = position.mode === 'cursor'
      ? { limit, hasMore, nextCursor: hasMore ? createCursor(resource, order, [records.at(-1)![options.newestBy]]) : null }
      : { page: position.page, limit, ...count ? await countUpTo(maxTotal, plan, call) : { hasMore } }
    return { records, meta, ...computed && { values: shown.map(row => row.slice(columns.fields.length)) } }
  }
  catch (error) {
    throw await toRequestError(error, plan, call)
  }
}

function startOf(position: Position, order: readonly Order[], { engine, resource }: Call): readonly Where[] {
  if (position.mode !== 'cursor' || position.cursor === '') return []
  return [after(engine, order, readCursor(position.cursor, resource, order))]
}

async function countUpTo(max: number, plan: Scoped<ReadPlan>, call: Call): Promise<{ total: number, totalIsMore?: true }> {
  const total = await countRows(plan, call, max + 1)
  return total > max ? { total: max, totalIsMore: true } : { total }
}
