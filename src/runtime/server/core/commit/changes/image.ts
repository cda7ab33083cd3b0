/** Images of changed rows: the changed columns as they were stored before and after the change, as JSON. */
import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../../../engines/engine'
import type { Change } from '../../extensions/changes'
import { decoder, type RecordValues } from '../../read/rows/decode'
import type { ChangedTable } from './table'

export interface Image {
  readonly columns: readonly string[]
  readonly before: RecordValues | null
  readonly after: RecordValues | null
}

export interface ImageOptions {
  /** The columns that `before` and `after` leave out. */
  readonly withoutValues: ReadonlySet<string>
  /** Whether `before` contains the whole row. */
  readonly wholeBefore: boolean
}

type Kind = Change['kind']

/** Whether the row did not exist before the change. A link that the commit takes out of the trash counts as a new row. */
export const isNewRow = (kind: Kind) => kind === 'create' || kind === 'link'

/** Whether the row does not exist after the change. A link that the commit moves to the trash counts as a removed row. */
export const isRemovedRow = (kind: Kind, { hasTrash }: Pick<ChangedTable, 'hasTrash'>) =>
  kind === 'purge' || kind === 'unlink' || (kind === 'delete' && !hasTrash)

/**
 * @param before the row with every column, before the change. `after` is the row after it.
 */
export function toImage(
  table: ChangedTable, kind: Kind, before: Row | undefined, after: Row | undefined, { withoutValues, wholeBefore }: ImageOptions,
): Image {
  const names = table.row.fields.map(({ name }) => name)
  const decodeRow = decoder(table.row, table.row, 'wire')
  const decode = (row: Row) => {
    const record = decodeRow(row)
    for (const name of names) record[name] = toJson(record[name])
    return record
  }
  const old = before && !isNewRow(kind) ? decode(before) : null
  const current = after && !isRemovedRow(kind, table) ? decode(after) : null
  const pick = (record: RecordValues, columns: readonly string[]) =>
    Object.fromEntries(columns.filter(name => !withoutValues.has(name)).map(name => [name, record[name]]))
  if (!old || !current) return { columns: names, before: old && pick(old, names), after: current && pick(current, names) }
  const columns = names.filter(name => !isDeepStrictEqual(old[name], current[name]))
  return { columns, before: pick(old, wholeBefore ? names : columns), after: pick(current, columns) }
}

/** Converts the values that JSON does not have. Columns of custom types and arrays can contain them. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value)) return globalThis.Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return (value as { toJSON: () => unknown }).toJSON()
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]))
}
