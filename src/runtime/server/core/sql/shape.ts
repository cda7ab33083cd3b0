/**
 * Keys of the statement cache. Statements of one key must have the same text, whoever asks: a key that two texts share would run one
 * caller's SQL for another. So a key names tables, columns and relations by identity, never by a name that two of them may have.
 */
import type { Column, Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../schema/drizzle/foreign-keys'
import type { GraphNode } from '../../schema/graph'
import type { Relation, Resource } from '../../schema/model'

declare const keyed: unique symbol

/** A key, or a part of one. Only this file makes them. */
export type Shape = string & { readonly [keyed]: true }

/** What has an identity of its own: made once at start, the same object in every request. */
export type Identity = Table | Column | Resource | GraphNode | ForeignKeyFacts | Relation

type Part = string | Identity | number | boolean | undefined | readonly (Shape | Identity | number)[]

/** A word of our own code, told by its literal type; any other text goes through `quoted`. */
type Word<T> = T extends string ? (string extends T ? never : T) : T

/**
 * shape`count ${resource} ${shapeOf(where)}`. Each part stands in brackets, so that no two parts run into each other.
 * The words between the parts say what is built of them: no two builders of different SQL share them.
 */
export function shape<const P extends readonly Part[]>(
  words: TemplateStringsArray,
  ...parts: P & { readonly [I in keyof P]: Word<P[I]> }
): Shape {
  let text = words[0]!
  for (let index = 0; index < parts.length; index++) text += toText(parts[index] as Part) + words[index + 1]!
  return text as Shape
}

function toText(part: Part): string {
  if (typeof part !== 'object') return `(${part})`
  return isList(part) ? `[${part.map(toText).join('')}]` : `(${idOf(part)})`
}

const isList = (part: object): part is readonly (Shape | Identity | number)[] => Array.isArray(part)

/** A list of parts that have a shape. Asked for several times in every request, it is put together by hand, as `orderShape` is. */
export function shapeOf(parts: readonly { readonly shape: Shape }[]): Shape {
  let text = '['
  for (const part of parts) text += `(${part.shape})`
  return `${text}]` as Shape
}

export function orderShape(order: readonly { readonly field: { readonly column: Column }, readonly descending: boolean }[]): Shape {
  let text = '['
  for (const { field, descending } of order) text += `(${idOf(field.column)}${descending ? '-' : '+'})`
  return `${text}]` as Shape
}

/** Text that is not ours: its length says where it ends, whatever it holds. */
export const quoted = (text: string) => `"${text.length}:${text}` as Shape

const ids = new WeakMap<object, number>()
let last = 0

/** The number of an object, the same for as long as it exists. */
export function idOf(value: object): number {
  let id = ids.get(value)
  if (id === undefined) ids.set(value, id = ++last)
  return id
}
