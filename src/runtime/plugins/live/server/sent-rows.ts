/** The rows of a commit as servers send them to each other: as they were before, and what has changed. */
import { isDeepStrictEqual } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import type { WatchedRow } from '../../../server/kit/listen'

/** The most bytes of the rows of one message. For more, the other servers let their clients read everything again. */
const MAX_BYTES = 512 * 1024

/** @returns `undefined` for rows that are too large, or that contain values of classes, which would arrive as other values. */
export function packRows(rows: readonly WatchedRow[]): Uint8Array | undefined {
  const sent = rows.map(withChanges)
  if (!sent.every(isPlain)) return undefined
  const bytes = serialize(sent)
  return bytes.length > MAX_BYTES ? undefined : bytes
}

export function unpackRows(bytes: Uint8Array): readonly WatchedRow[] {
  return (deserialize(bytes) as readonly WatchedRow[]).map(({ before, after, ...row }) => ({
    ...row, ...before && { before }, ...after && { after: { ...before, ...after } },
  }))
}

function withChanges({ before, after, ...row }: WatchedRow): WatchedRow {
  if (!before || !after) return { ...row, ...before && { before }, ...after && { after } }
  const changed = Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(before[name], value))
  return { ...row, before, after: Object.fromEntries(changed) }
}

/** Whether `serialize` keeps the value as it is. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol'
  if (Array.isArray(value)) return value.every(isPlain)
  if (value instanceof Date || value instanceof Uint8Array) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain)
}
