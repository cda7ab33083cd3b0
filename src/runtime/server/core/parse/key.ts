/** A record's address: the `:id` of a path, or an entry of `ids`, to the values of the primary key. */
import { UNFIT } from '../../../shared/wire'
import { keyFromText, keyToText } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { ApiRequest } from '../context'
import { notFound } from '../error'

/** One value per column of the primary key, in key order. */
export type Key = readonly unknown[]

/** @throws 404 for an id that is not written as the column would write it: no row has that address. */
export function parseKey({ params }: ApiRequest, resource: Resource): Key {
  const key = params.id === undefined ? undefined : toKey(resource, params.id)
  if (!key) throw notFound()
  return key
}

/** The key an id stands for; `undefined` when no row can have it. Composite keys are joined by `,`, each value URL-encoded. */
export function toKey({ primaryKey }: Resource, id: string): Key | undefined {
  const texts = primaryKey.length === 1 ? [id] : id.split(',').map(decode)
  if (texts.length !== primaryKey.length) return undefined
  const key = primaryKey.map((field, index) => texts[index] === undefined ? UNFIT : keyFromText(field, texts[index]))
  return key.includes(UNFIT) ? undefined : key
}

/** The id of a record, as a client writes it back. */
export function toId({ primaryKey }: Resource, key: Key): string {
  const texts = primaryKey.map((field, index) => keyToText(field, key[index]))
  return texts.length === 1 ? texts[0]! : texts.map(encodeURIComponent).join(',')
}

/** The `:id` of a path to an id. Between the values of a composite key stands a comma as it is, in a value an encoded one. */
export function idFromPath({ primaryKey }: Resource, segment: string): string | undefined {
  return primaryKey.length > 1 && segment.includes(',') ? segment : decode(segment)
}

/** The id of a record as it stands in a path; the values of a composite key are encoded already. */
export function idToPath({ primaryKey }: Resource, id: string): string {
  return primaryKey.length > 1 ? id : encodeURIComponent(id)
}

/** Undefined where the text is not valid percent-encoding. */
export function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  }
  catch {
    return undefined
  }
}
