/** Revisions of records: hashes from which entity tags are made. */
import { digest } from 'ohash'
import type { Selection } from './access/fields'

type RecordValues = Readonly<Record<string, unknown>>

/** Returns the first 96 bits of SHA-256. A fast hash would let a client prepare two versions of a record with the same tag. */
export function hashText(text: string): string {
  return digest(text).slice(0, 16)
}

/**
 * Returns the revision of a record. It needs no secret: a caller gets a tag only together with the fields that it covers.
 * @param record the JSON values of every field that the caller can read, in the order of the table
 */
export function revisionOf(record: RecordValues): string {
  return hashText(JSON.stringify(record))
}

/** Returns the revision of a record whose values are those of Drizzle. The result equals that of its JSON values. */
export function revisionOfValues({ fields }: Selection, record: RecordValues): string {
  const values: Record<string, unknown> = {}
  for (const { name, toJson } of fields) values[name] = toJson ? toJson(record[name]) : record[name]
  return revisionOf(values)
}
