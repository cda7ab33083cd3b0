/** Reads the visible children of all parents of one include. */
import type { Row } from '../../../../engines/engine'
import type { Relation } from '../../../../schema/model'
import type { Call } from '../../../context'
import { allFields, type Selection } from '../../../access/fields'
import { inTuples } from '../../../sql/list/index'
import { includedColumns, type ScopedInclude } from '../../rows/join'
import { filterAccepted, yieldToEventLoop, tooManyRowsToCheck } from '../../rows/object-level'
import { searchInSlices } from '../../rows/text-search'
import { decoder, type RecordValues } from '../../rows/decode'
import type { Rows } from '../../rows/rows'
import { spendRecords, tooManyIncluded, type Budget } from './budget'
import { keyAt, keyText, type Level, type Parents } from './parents'
import { childrenStatement } from './statement'

interface Children extends Rows, Level {
  readonly byParent: ReadonlyMap<string, RecordValues[]>
}

/** Reads the visible children of all parents, in the sort order of the include and with its limit per parent. */
export async function readChildren(requested: ScopedInclude, parents: Parents, call: Call, budget: Budget): Promise<Children> {
  const include = await searchChildrenInSlices(requested, [...parents.values()].map(parent => parent.values), call)
  const { relation, plan, perParent = 1 } = include
  const columns = columnsOf(include)
  const visible = await readVisible(include, columns, parents, call, budget)
  const byParent = new Map<string, RecordValues[]>()
  const decode = decoder(columns, plan.selection, budget.form)
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
    if (list.length >= perParent) continue
    spendRecords(budget, parent.occurrences)
    const record = decode(row)
    list.push(record)
    kept.push(row)
    records.push(record)
    occurrences.push(parent.occurrences)
  }
  return { columns, rows: kept, records, occurrences, byParent }
}

/** Reads one row beyond the budget. @throws `LIMIT_EXCEEDED` if that row exists */
async function readVisible(
  include: ScopedInclude,
  columns: Selection,
  parents: Parents,
  call: Call,
  budget: Budget,
): Promise<Rows['rows']> {
  const { relation, plan, through, perParent } = include
  const values = [...parents.values()].map(parent => parent.values)
  const statementFor = (limited: number | undefined, max: number) => childrenStatement(include, columns, values, limited, max + 1, call)
  if (!plan.accepts && !through?.accepts) {
    // The response contains each child once per occurrence of its parent, so every row uses at
    // least `fewestOccurrences` records of the budget.
    const max = Math.floor(budget.recordsLeft / fewestOccurrences(parents))
    if (perParent !== undefined && parents.size <= FEW_PARENTS) {
      const few = Math.min(FEW, perParent * parents.size, max)
      const rows = await readAtMost(few, statementFor(undefined, few), call)
      if (rows) return rows
    }
    const rows = await call.engine.query(statementFor(perParent, max))
    if (rows.length > max) throw tooManyIncluded(budget)
    return rows
  }
  // `objectLevel` checks the rows before the limit per parent applies, so that hidden rows do not count toward the limit.
  const rows = await call.engine.query(statementFor(undefined, budget.checksLeft))
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
  const attempts = statement.extra
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
  return include.plan.accepts ? allFields(include.plan.resource) : includedColumns(include)
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
