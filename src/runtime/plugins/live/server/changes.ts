/** Collects the rows that commits change for some milliseconds, so that many commits cost what one costs. */
import { isDeepStrictEqual } from 'node:util'
import type { WatchedRow } from '../../../server/kit/listen'
import type { RecordValues } from '../../../server/kit/rows'

/** A row that commits have changed. */
export interface ChangedRecord {
  /**
   * As it was before the commits. Several states if the commits of several servers arrive in another order. None for a new row, and if
   * nobody knows.
   */
  readonly befores: readonly RecordValues[]
  /** The fields whose values have changed. Absent for a new row, and if nobody knows. */
  readonly fields?: ReadonlySet<string>
  /** What the commits reported, in their order. */
  readonly rows: readonly WatchedRow[]
}

export interface Changes {
  readonly isEmpty: boolean
  /** The rows of a table by id. */
  readonly recordsOf: (table: string) => ReadonlyMap<string, ChangedRecord>
  readonly add: (rows: readonly WatchedRow[]) => void
}

const NOTHING: ReadonlyMap<string, ChangedRecord> = new Map()

export function createChanges(): Changes {
  const tables = new Map<string, Map<string, ChangedRecord>>()
  return {
    get isEmpty() {
      return tables.size === 0
    },
    recordsOf: table => tables.get(table) ?? NOTHING,
    add(rows) {
      for (const row of rows) {
        let records = tables.get(row.table)
        if (!records) tables.set(row.table, records = new Map())
        records.set(row.id, merge(records.get(row.id), row))
      }
    },
  }
}

function merge(known: ChangedRecord | undefined, row: WatchedRow): ChangedRecord {
  const fields = changedFields(row)
  const befores = row.before ? [row.before] : []
  if (!known) return { befores, fields, rows: [row] }
  const follows = isDeepStrictEqual(known.rows.at(-1)!.after, row.before)
  return {
    befores: follows ? known.befores : [...known.befores, ...befores],
    fields: known.fields && fields && new Set([...known.fields, ...fields]),
    rows: [...known.rows, row],
  }
}

function changedFields({ before, after }: WatchedRow): ReadonlySet<string> | undefined {
  if (!before || !after) return undefined
  return new Set(Object.keys(after).filter(name => !isDeepStrictEqual(before[name], after[name])))
}
