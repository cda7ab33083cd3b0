/** Reads the visible children of all parents of one include. */
import { TooLargeResult, type Row, type Statement } from '../../../engines/engine'
import type { Relation, Resource } from '../../../schema/model'
import type { Order } from '../../sql/keyset'
import type { Call } from '../../request/session'
import { allFields, allFieldsAnd, type Selection } from '../../access/fields'
import { inTuples } from '../../sql/list/index'
import { includedColumns, type ScopedInclude } from '../rows/join'
import { createTurns, yieldToEventLoop } from '../../process/turns'
import { filterAccepted, tooManyRowsToCheck } from '../rows/object-level'
import { searchInSlices } from '../rows/text-search'
import { decoder, sizer, type RecordValues } from '../rows/decode'
import type { Rows } from '../rows/rows'
import { spendRecord, tooLargeIncluded, tooManyIncluded, type Budget } from './budget'
import { keyAt, keyText, type Level, type Parents } from './parents'
import { countsSize } from './counts'
import { childrenStatement } from './statement'

interface Children extends Rows, Level {
  readonly byParent: ReadonlyMap<string, RecordValues[]>
}

/** Reads the visible children of all parents, in the sort order of the include and with its limit per parent. */
export async function readChildren(requested: ScopedInclude, parents: Parents, call: Call, budget: Budget): Promise<Children> {
  const include = await searchChildrenInSlices(requested, [...parents.values()].map(parent => parent.values), call)
  const { relation, plan, perParent = 1 } = include
  const columns = columnsOf(include)
  const { rows: visible, isRanked } = await readVisible(include, columns, parents, call, budget)
  const byParent = new Map<string, RecordValues[]>()
  const decode = decoder(columns, plan.selection, budget.form)
  const sizeOf = sizer(columns, plan.selection)
  const sizeOfCounts = countsSize(plan)
  const nextTurn = createTurns()
  const parentOf = parentKey(relation, columns)
  const kept: Row[] = []
  const records: RecordValues[] = []
  const occurrences: number[] = []
  for (const row of visible) {
    const key = parentOf(row)!
    const parent = parents.get(key)
    // A collation can match `A` with `a`. This row then references a key that no parent has exactly.
    if (!parent) continue
    let list = byParent.get(key)
    if (!list) byParent.set(key, list = [])
    const position = isRanked ? Number(row.at(-1)) - 1 : list.length
    if (position >= perParent) continue
    spendRecord(budget, sizeOf(row) + sizeOfCounts, parent.occurrences)
    const waiting = nextTurn()
    if (waiting) await waiting
    const record = decode(row)
    list[position] = record
    kept.push(row)
    records.push(record)
    occurrences.push(parent.occurrences)
  }
  return { columns, rows: kept, records, occurrences, byParent }
}

interface VisibleRows {
  readonly rows: Rows['rows']
  /** Whether the last value of each row is its position among the children of its parent. Other rows are in this order. */
  readonly isRanked: boolean
}

/** Reads one row beyond the budget. @throws `LIMIT_EXCEEDED` if that row exists */
async function readVisible(
  include: ScopedInclude,
  columns: Selection,
  parents: Parents,
  call: Call,
  budget: Budget,
): Promise<VisibleRows> {
  const { plan, through, perParent } = include
  const values = [...parents.values()].map(parent => parent.values)
  const statementFor = (limited: number | undefined, max: number) => childrenStatement(include, columns, values, limited, max + 1, call)
  if (plan.accepts || through?.accepts)
    return { rows: await readAccepted(include, columns, statementFor(undefined, budget.checksLeft), call, budget), isRanked: false }
  // The response contains each child once per occurrence of its parent, so every row uses at
  // least `fewestOccurrences` records of the budget.
  const fewest = fewestOccurrences(parents)
  const max = Math.floor(budget.recordsLeft / fewest)
  const maxBytes = MARGIN * Math.floor(budget.bytesLeft / fewest)
  if (perParent !== undefined && parents.size <= FEW_PARENTS) {
    const few = Math.min(FEW, perParent * parents.size, max)
    const rows = await readAtMost(few, statementFor(undefined, few), call)
    if (rows) return { rows, isRanked: false }
  }
  const isMuch = Math.min(max, (perParent ?? 1) * parents.size) > FEW
  const slices = isMuch && call.engine.blocking && plan.order.some(sortsText(plan.resource)) ? inSlices(values) : [values]
  const rows: Row[] = []
  for (const [index, slice] of slices.entries()) {
    if (index > 0) await yieldToEventLoop()
    const statement = childrenStatement(include, columns, slice, perParent, max + 1, call)
    for (const row of await readWithin(isMuch ? { ...statement, maxBytes } : statement, budget, call)) rows.push(row)
    if (rows.length > max) throw tooManyIncluded(budget)
  }
  return { rows, isRanked: perParent !== undefined }
}

/** Whether the database has to compare whole texts to sort the children of all parents. */
const sortsText = ({ primaryKey }: Resource) => ({ field, computed }: Order) =>
  computed !== undefined || !field.ordered || (field.kind === 'text' && !primaryKey.includes(field))

/** The number of statements that sort the texts of the children, so that other requests run between them. */
const SLICES = 4

function inSlices<T>(list: readonly T[]): readonly (readonly T[])[] {
  const size = Math.ceil(list.length / SLICES)
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size))
}

/** The bytes of a row that the response does not contain, such as keys, are no more than those that it contains. */
const MARGIN = 2

/** @throws `LIMIT_EXCEEDED` if a synchronous driver reads more bytes than fit into the response */
async function readWithin(statement: Statement, budget: Budget, call: Call): Promise<Rows['rows']> {
  try {
    return await call.engine.query(statement)
  }
  catch (error) {
    throw error instanceof TooLargeResult ? tooLargeIncluded(budget) : error
  }
}

/** `objectLevel` checks the rows before the limit per parent applies, so that hidden rows do not count toward the limit. */
async function readAccepted(
  { relation, plan, through }: ScopedInclude, columns: Selection, statement: Statement, call: Call, budget: Budget,
): Promise<Rows['rows']> {
  const rows = await call.engine.query(statement)
  if (rows.length > budget.checksLeft) throw tooManyRowsToCheck(budget.maxChecks, 'Request fewer records, or narrow the filter.', 'include')
  budget.checksLeft -= rows.length
  const junctionStart = columns.fields.length + relation.columns.length
  const decodeLink = through?.accepts && decoder(allFields(through.resource))
  const linked = decodeLink ? await filterAccepted(rows, row => decodeLink(row.slice(junctionStart)), through.accepts!) : rows
  return plan.accepts ? filterAccepted(linked, decoder(columns), plan.accepts) : linked
}

/** Most parents have few children. The database reads them all in half the time that it needs to count them by parent. */
const FEW = 500
const FEW_PARENTS = 25
/** The number of requests that read by position at once, after one with more children than that. */
const SKIPPED = 15

/**
 * Reads the rows of a statement without a limit per parent: {@link readChildren} leaves out those beyond it. Returns `undefined` if there
 * are more than `max` rows, or if recent requests had more.
 */
async function readAtMost(max: number, statement: ReturnType<typeof childrenStatement>, call: Call): Promise<Rows['rows'] | undefined> {
  const { attempts } = statement
  if (attempts.skipped > 0) {
    attempts.skipped--
    return undefined
  }
  const rows = await call.engine.query(statement)
  if (rows.length <= max) return rows
  attempts.skipped = SKIPPED
  return undefined
}

function fewestOccurrences(parents: Parents): number {
  let fewest = Infinity
  for (const { occurrences } of parents.values()) if (occurrences < fewest) fewest = occurrences
  return fewest
}

/** A text search can block the event loop. This function lets other requests run first, then searches the table in slices. */
async function searchChildrenInSlices(
  include: ScopedInclude,
  parents: readonly (readonly unknown[])[],
  call: Call,
): Promise<ScopedInclude> {
  const { relation, plan } = include
  if (!plan.search || !call.engine.blocking) return include
  await yieldToEventLoop()
  const childrenOfParents = relation.kind === 'many' ? [inTuples(call.engine, relation.foreignColumns, parents)] : []
  return { ...include, plan: await searchInSlices(plan, call, childrenOfParents) }
}

function columnsOf(include: ScopedInclude): Selection {
  return include.plan.accepts ? allFieldsAnd(include.plan.resource, include.plan.selection.fields) : includedColumns(include)
}

/**
 * Returns a function that reads the parent's key from a child row. The key is in the `foreignColumns` of the relation. For a
 * many-to-many relation, it is in the junction columns, which follow the columns of the child.
 */
function parentKey(relation: Relation, columns: Selection): (row: Row) => string | undefined {
  if (relation.kind !== 'manyToMany') return keyAt(columns, relation.foreignColumns)
  const positions = relation.columns.map((_, index) => columns.fields.length + index)
  return row => keyText(row, positions)
}
