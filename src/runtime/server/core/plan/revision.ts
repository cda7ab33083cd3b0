/** Revisions of records: hashes from which entity tags are made. */
import { digest } from 'ohash'
import type { Selection } from '../access/fields'

type RecordValues = Readonly<Record<string, unknown>>

/** Returns the first 96 bits of SHA-256. A fast hash would let a client prepare two versions of a record with the same tag. */
export function hashText(text: string): string {
  return digest(text).slice(0, 16)
}

/**
 * Returns the revision of a record. It needs no secret if a caller gets the tag only together with the fields that it covers.
 * @param record the JSON values of every field that the caller can read, in the order of the table
 * @param secret keeps a caller from guessing values that a hook hides
 */
export function revisionOf(record: RecordValues, secret?: string): string {
  const text = JSON.stringify(record)
  return hashText(secret === undefined ? text : `revision\n${secret}\n${text}`)
}

/** Returns the JSON values of a record whose values are those of Drizzle. */
export function toRevisedValues({ fields }: Selection, record: RecordValues): RecordValues {
  const values: Record<string, unknown> = {}
  for (const { name, toJson } of fields) values[name] = toJson ? toJson(record[name]) : record[name]
  return values
}
