/** Collects the rows that commits change for some milliseconds, so that many commits cost what one costs. */
import { isDeepStrictEqual } from 'node:util'
import type { WatchedRow } from '../../../server/kit/listen'
import { memoized } from '../../../server/kit/process'
import type { RecordValues } from '../../../server/kit/rows'

/** A row that commits have changed. */
export interface ChangedRecord {
  /** As it was before each of the commits. A client can have read it between two of them. */
  readonly before: readonly RecordValues[]
  /** Whether one of the commits created it. */
  readonly isNew: boolean
  /** Whether the row as it is now is needed to find out what has changed. */
  readonly needsCurrent: boolean
  /** What the commits reported, in their order. */
  readonly rows: readonly WatchedRow[]
}

export interface Changes {
  /** The number of changes. */
  readonly size: number
  /** The rows of a table by id. Ask when all changes are added. */
  readonly recordsOf: (table: string) => ReadonlyMap<string, ChangedRecord>
  /** The ids of the rows of a table, and the rows as they were before the first commit. */
  readonly earlierOf: (table: string) => { readonly ids: readonly string[], readonly rows: readonly RecordValues[] }
  readonly add: (rows: readonly WatchedRow[]) => void
}

const NOTHING: ReadonlyMap<string, ChangedRecord> = new Map()

export function createChanges(): Changes {
  const tables = new Map<string, Map<string, WatchedRow[]>>()
  const toRecords = memoized((rows: ReadonlyMap<string, readonly WatchedRow[]>): ReadonlyMap<string, ChangedRecord> =>
    new Map([...rows].map(([id, own]) => [id, toRecord(own)])))
  let size = 0
  return {
    get size() {
      return size
    },
    recordsOf(table) {
      const rows = tables.get(table)
      return rows ? toRecords(rows) : NOTHING
    },
    earlierOf(table) {
      const known = [...tables.get(table) ?? []].filter(([, [first]]) => first!.isNew || first!.before)
      return { ids: known.map(([id]) => id), rows: known.flatMap(([, [first]]) => first!.before ? [first!.before] : []) }
    },
    add(rows) {
      for (const row of rows) {
        let records = tables.get(row.table)
        if (!records) tables.set(row.table, records = new Map())
        const known = records.get(row.id)
        if (known) known.push(row)
        else records.set(row.id, [row])
        size++
      }
    },
  }
}

const toRecord = (rows: readonly WatchedRow[]): ChangedRecord => ({
  before: rows.flatMap(({ before }) => before ? [before] : []),
  isNew: rows.some(({ isNew }) => isNew),
  needsCurrent: rows.at(-1)!.before !== undefined && rows.at(-1)!.after === undefined,
  rows,
})

/**
 * Returns the fields whose values a commit has changed, or `undefined` if nobody knows. Some statements do not return the row after them,
 * which is then `current`.
 */
export function changedFields({ rows }: ChangedRecord, current: RecordValues): ReadonlySet<string> | undefined {
  const fields = new Set<string>()
  for (const [index, { before, after = rows[index + 1]?.before ?? current }] of rows.entries()) {
    if (!before) return undefined
    addDifferences(fields, before, after)
  }
  return fields
}

export function addDifferences(fields: Set<string>, before: RecordValues, after: RecordValues): void {
  for (const name of Object.keys(before)) if (!isDeepStrictEqual(before[name], after[name])) fields.add(name)
}
