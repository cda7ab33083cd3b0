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

/** The visible children of all parents, at most so many of each, in their order. */
export async function readChildren(asked: ScopedInclude, parents: Parents, call: Call, budget: Budget): Promise<Children> {
  const include = await searchChildrenInSlices(asked, [...parents.values()].map(parent => parent.values), call)
  const { relation, plan, perParent = 1 } = include
  const columns = columnsOf(include)
  const visible = await readVisible(include, columns, parents, call, budget)
  const byParent = new Map<string, RecordValues[]>()
  const decode = decoder(columns, plan.selection, budget.form)
  const parentOf = parentKey(relation, columns)
  const kept: Row[] = []
  const records: RecordValues[] = []
  const times: number[] = []
  for (const row of visible) {
    const key = parentOf(row)!
    const parent = parents.get(key)
    // A database may take two spellings of a key for one.
    if (!parent) continue
    let list = byParent.get(key)
    if (!list) byParent.set(key, list = [])
    if (list.length >= perParent) continue
    spendRecords(budget, parent.occurrences)
    const record = decode(row)
    list.push(record)
    kept.push(row)
    records.push(record)
    times.push(parent.occurrences)
  }
  return { columns, rows: kept, records, occurrences: times, byParent }
}

/** One row more than may be shown is read, or than may be judged, where code has the last word. @throws `LIMIT_EXCEEDED` */
async function readVisible(
  include: ScopedInclude,
  columns: Selection,
  parents: Parents,
  call: Call,
  budget: Budget,
): Promise<Rows['rows']> {
  const { relation, plan, through, perParent } = include
  const values = [...parents.values()].map(parent => parent.values)
  const read = (limited: number | undefined, most: number) =>
    call.engine.query(childrenStatement(include, columns, values, limited, most + 1, call))
  if (!plan.accepts && !through?.accepts) {
    // Each child stands in the response as often as its parent.
    const most = Math.floor(budget.recordsLeft / fewestOccurrences(parents))
    const rows = await read(perParent, most)
    if (rows.length > most) throw tooManyIncluded(budget)
    return rows
  }
  // Judged before the limit of a parent is applied: hidden rows take no place.
  const rows = await read(undefined, budget.checksLeft)
  if (rows.length > budget.checksLeft) throw tooManyRowsToCheck(budget.maxChecks, 'Ask for fewer records, or narrow the filter.', 'include')
  budget.checksLeft -= rows.length
  const from = columns.fields.length + relation.columns.length
  const decodeLink = through?.accepts && decoder(allFields(through.resource))
  const linked = decodeLink ? await filterAccepted(rows, row => decodeLink(row.slice(from)), through.accepts!) : rows
  return plan.accepts ? filterAccepted(linked, decoder(columns), plan.accepts) : linked
}

function fewestOccurrences(parents: Parents): number {
  let fewest = Infinity
  for (const { occurrences } of parents.values()) if (occurrences < fewest) fewest = occurrences
  return fewest
}

/** Where a search in text keeps the event loop busy, others have their turn before it, and it is made in slices. */
async function searchChildrenInSlices(include: ScopedInclude, parents: readonly (readonly unknown[])[], call: Call): Promise<ScopedInclude> {
  const { relation, plan } = include
  if (!plan.search || !call.engine.blocking) return include
  await yieldToEventLoop()
  const own = relation.kind === 'many' ? [inTuples(call.engine, relation.foreignColumns, parents)] : []
  return { ...include, plan: await searchInSlices(plan, call, own) }
}

function columnsOf(include: ScopedInclude): Selection {
  return include.plan.accepts ? allFields(include.plan.resource) : includedColumns(include)
}

/** The columns in which a child carries its parent's key: its own, or, over a junction, those selected behind them. */
function parentKey(relation: Relation, columns: Selection): (row: Row) => string | undefined {
  if (relation.kind !== 'manyToMany') return keyAt(columns, relation.foreignColumns)
  const places = relation.columns.map((_, index) => columns.fields.length + index)
  return row => keyText(row, places)
}
