/**
 * Keys of the statement cache. Statements with one key must have the same text: otherwise the SQL of one caller would run for
 * another. A key identifies tables, columns and relations by identity, because several of them can have the same name.
 */
import type { Column, Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../schema/drizzle/foreign-keys'
import type { GraphNode } from '../../schema/graph'
import type { Relation, Resource } from '../../schema/model'

declare const keyed: unique symbol

/** A key, or a part of one. Only this file makes them. */
export type Shape = string & { readonly [keyed]: true }

/** Objects that are created once at startup, the same in every request. */
export type Identity = Table | Column | Resource | GraphNode | ForeignKeyFacts | Relation

type Part = string | Identity | number | boolean | undefined | readonly (Shape | Identity | number)[]

/** A word of this code, recognized by its literal type; other text goes through `quoted`. */
type Word<T> = T extends string ? (string extends T ? never : T) : T

/**
 * shape`count ${resource} ${shapeOf(where)}`. Each part is in brackets, so that adjacent parts cannot be confused.
 * The words between the parts identify the builder: builders of different SQL use different words.
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

/** The shape of a list. It runs several times per request, so it concatenates by hand, as `orderShape` does. */
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

/** Text of the app: its length marks its end, whatever it contains. */
export const quoted = (text: string) => `"${text.length}:${text}` as Shape

const ids = new WeakMap<object, number>()
let last = 0

/** The number of an object, the same for as long as it exists. */
export function idOf(value: object): number {
  let id = ids.get(value)
  if (id === undefined) ids.set(value, id = ++last)
  return id
}
