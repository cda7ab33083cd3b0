/** Converts a record id to the values of the primary key, and back. An id is text in a path or in a body. */
import { INVALID } from '../../shared/wire'
import { keyFromText, keyToText } from './field'
import type { Resource } from './model'

/** One value per column of the primary key, in key order. */
export type Key = readonly unknown[]

/**
 * Converts an id to the key. Returns `undefined` if no row can have this id. The id of a composite key joins its URL-encoded values
 * with `,`. The id is `undefined` if the text of a path is not valid percent-encoding.
 */
export function toKey({ primaryKey }: Pick<Resource, 'primaryKey'>, id: string | undefined): Key | undefined {
  if (id === undefined) return undefined
  if (primaryKey.length === 1) {
    const value = keyFromText(primaryKey[0]!, id)
    return value === INVALID ? undefined : [value]
  }
  const texts = id.split(',').map(decode)
  if (texts.length !== primaryKey.length) return undefined
  const key = primaryKey.map((field, index) => texts[index] === undefined ? INVALID : keyFromText(field, texts[index]))
  return key.includes(INVALID) ? undefined : key
}

/** Converts a key to the id, in the form in which a client sends it. */
export function toId({ primaryKey }: Pick<Resource, 'primaryKey'>, key: Key): string {
  const texts = primaryKey.map((field, index) => keyToText(field, key[index]))
  return texts.length === 1 ? texts[0]! : texts.map(encodeURIComponent).join(',')
}

/** Converts the `:id` of a path to an id. A comma separates the values of a composite key. A comma within a value is encoded. */
export function idFromPath({ primaryKey }: Resource, segment: string): string | undefined {
  return primaryKey.length > 1 && segment.includes(',') ? segment : decode(segment)
}

/** Converts an id to a path segment. The values of a composite key are already encoded. */
export function idToPath({ primaryKey }: Resource, id: string): string {
  return primaryKey.length > 1 ? id : encodeURIComponent(id)
}

/** Decodes percent-encoding. Returns `undefined` if the text is not valid. */
export function decode(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  }
  catch {
    return undefined
  }
}
