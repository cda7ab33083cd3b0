/**
 * Keys of the statement cache. Statements with the same key must have the same text. Otherwise, the SQL of one caller would run for
 * another caller. A key contains the ids of tables, columns and relations instead of their names, because names can repeat.
 */
import type { Column, Table } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../schema/drizzle/foreign-keys'
import type { GraphNode } from '../../schema/graph'
import type { Relation, Resource } from '../../schema/model'
import { memoized } from '../memoized'

declare const keyed: unique symbol

/** A key or a part of a key. Only this file and `outline.ts` create shapes. */
export type Shape = string & { readonly [keyed]: true }

/** Objects that are created once at startup and are the same in every request. */
export type Identity = Table | Column | Resource | GraphNode | ForeignKeyFacts | Relation

type Part = string | Identity | number | boolean | undefined | readonly (Shape | Identity | number)[]

/** Accepts a string only if its type is a literal, that is, a word of this code. Other text must use `quoted`. */
type Word<T> = T extends string ? (string extends T ? never : T) : T

/**
 * Builds a key, for example shape`count ${resource} ${shapeOf(where)}`. Brackets separate each part from the next one.
 * The words between the parts identify the kind of SQL: different kinds must use different words.
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

/** The shape of a list. For speed, this function and `orderShape` concatenate strings: they run several times per request. */
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

/** Quotes text of the app. The length shows where the text ends, even if it contains a quote. */
export const quoted = (text: string) => `"${text.length}:${text}` as Shape

let last = 0

/** A number that identifies an object. It never changes and is never used again. */
export const idOf: (value: object) => number = memoized(() => ++last)
