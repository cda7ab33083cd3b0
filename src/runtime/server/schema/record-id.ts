/** Converts record ids: the text of a path or a body to the values of the primary key, and back. */
import { INVALID } from '../../shared/wire'
import { keyFromText, keyToText } from './field'
import type { Resource } from './model'

/** One value per column of the primary key, in key order. */
export type Key = readonly unknown[]

/** The key of an id; `undefined` when no row can have it. Composite keys are joined by `,`, each value URL-encoded. */
export function toKey({ primaryKey }: Resource, id: string): Key | undefined {
  const texts = primaryKey.length === 1 ? [id] : id.split(',').map(decode)
  if (texts.length !== primaryKey.length) return undefined
  const key = primaryKey.map((field, index) => texts[index] === undefined ? INVALID : keyFromText(field, texts[index]))
  return key.includes(INVALID) ? undefined : key
}

/** The id of a record, in the form in which a client sends it. */
export function toId({ primaryKey }: Resource, key: Key): string {
  const texts = primaryKey.map((field, index) => keyToText(field, key[index]))
  return texts.length === 1 ? texts[0]! : texts.map(encodeURIComponent).join(',')
}

/** The `:id` of a path to an id. A plain comma separates the values of a composite key; a comma within a value is encoded. */
export function idFromPath({ primaryKey }: Resource, segment: string): string | undefined {
  return primaryKey.length > 1 && segment.includes(',') ? segment : decode(segment)
}

/** The id of a record as a path segment. The values of a composite key are encoded already. */
export function idToPath({ primaryKey }: Resource, id: string): string {
  return primaryKey.length > 1 ? id : encodeURIComponent(id)
}

/** `undefined` when the text is not valid percent-encoding. */
export function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  }
  catch {
    return undefined
  }
}
