/** Finds the rows of watched tables in the outcomes of a commit, and passes them to the plugins that follow them. */
import type { Table } from 'drizzle-orm'
import type { Outcome, Row } from '../../../engines/engine'
import type { WatchedRow } from '../../extensions/watchers'
import { logError } from '../../process/log'
import type { Awaitable } from '../../awaitable'
import { decoder } from '../../read/rows/decode'
import { keepRow } from '../../read/stored-rows'
import type { Call } from '../../request/session'
import { createCollector, type FoundRow } from './found-rows'
import { isNewRow } from './image'
import { reportedIds, type ReportingOperation } from './report'
import type { ChangedTable } from './table'
import { isWatched, watchersOf } from './watching'

/** A promise only if someone follows rows that the commit has changed. */
export function emitRows(operations: readonly ReportingOperation[], outcomes: readonly Outcome[], call: Call): Awaitable<void> {
  const watchers = watchersOf(call)
  if (watchers.length === 0) return
  const rows = watchedRows(operations, outcomes, call)
  return rows.length === 0 ? undefined : emit(watchers, rows, call)
}

async function emit(watchers: ReturnType<typeof watchersOf>, rows: readonly WatchedRow[], { ctx }: Call): Promise<void> {
  for (const { watches, onRows } of watchers) {
    try {
      const own = rows.filter(row => watches(row))
      if (own.length > 0) await onRows(own, ctx)
    }
    catch (error) {
      logError(ctx, '`watch.onRows` of a plugin threw after the commit.', error)
    }
  }
}

/** Each row once: as it was before the first statement that changed it, and as it is after the last one. */
function watchedRows(operations: readonly ReportingOperation[], outcomes: readonly Outcome[], call: Call): readonly WatchedRow[] {
  const collector = createCollector(call)
  const found = new Map<Table, Map<string, { readonly table: ChangedTable, readonly isNew: boolean }>>()
  for (const [index, { snapshot, changes }] of operations.entries()) {
    const table = changes?.table ?? snapshot?.table
    if (!table || !isWatched(call, table)) continue
    const outcome = outcomes[index]!
    collector.addOperation({ snapshot, changes }, outcome)
    if (!changes) continue
    let rows = found.get(table.table)
    if (!rows) found.set(table.table, rows = new Map())
    for (const id of reportedIds(changes, outcome)) if (!rows.has(id)) rows.set(id, { table, isNew: isNewRow(changes.kind) })
  }
  const states = byTable(collector.rows)
  return [...found].flatMap(([table, rows]) => [...rows].map(([id, { table: { name, resource }, isNew }]): WatchedRow => {
    const { before, after } = states.get(table)?.get(id) ?? {}
    return { table: name, ...resource !== undefined && { resource }, id, isNew, ...!isNew && before && { before }, ...after && { after } }
  }))
}

interface States {
  before?: Readonly<Record<string, unknown>>
  after?: Readonly<Record<string, unknown>>
}

/** One table can be described as a resource and as a table of a cascade. */
function byTable(found: ReadonlyMap<ChangedTable, ReadonlyMap<string, FoundRow>>): ReadonlyMap<Table, ReadonlyMap<string, States>> {
  const tables = new Map<Table, Map<string, States>>()
  for (const [{ table, row }, rows] of found) {
    let states = tables.get(table)
    if (!states) tables.set(table, states = new Map())
    const decode = decoder(row)
    const decoded = (values: Row | undefined) => values && keepRow(decode(values), values)
    for (const [id, { before, after }] of rows) {
      const known = states.get(id)
      states.set(id, { before: known?.before ?? decoded(before), after: decoded(after) ?? known?.after })
    }
  }
  return tables
}
