/** Separates SQL of the app from its parameters without rendering it, which would cost twenty times as much. */
import { Column, is, Param, SQL, StringChunk, Table } from 'drizzle-orm'
import { idOf, quoted, type Shape } from './shape'

export interface Outline {
  /** The same for every condition whose text would be the same. */
  readonly shape: Shape
  readonly values: readonly unknown[]
}

const IS_ALIAS = Symbol.for('drizzle:IsAlias')

/** A parameter. Text of the app is quoted, so it never equals this or another part of a shape. */
const PARAMETER = '?'

/** `undefined` where SQL has to be rendered: subqueries, views, named placeholders, inlined parameters. */
export function outline(condition: SQL): Outline | undefined {
  const values: unknown[] = []
  const shape = walk(condition, values)
  return shape === undefined ? undefined : { shape: shape as Shape, values }
}

function walk(chunk: unknown, values: unknown[]): string | undefined {
  if (chunk instanceof StringChunk) return quoted(chunk.value.join(''))
  if (chunk instanceof Param) return parameter(chunk, values)
  if (chunk instanceof SQL)
    return (chunk as unknown as { shouldInlineParams: boolean }).shouldInlineParams ? undefined : walkAll(chunk.queryChunks, values)
  if (Array.isArray(chunk)) {
    const list = walkAll(chunk, values, ',')
    return list === undefined ? undefined : `[${list}]`
  }
  if (is(chunk, Column)) return named(chunk, chunk.table)
  if (is(chunk, Table)) return named(chunk, chunk)
  if (chunk === undefined) return ''
  if (typeof chunk === 'function' || (typeof chunk === 'object' && chunk !== null)) return undefined
  values.push(chunk)
  return PARAMETER
}

/** By identity. An alias is a new object in every request and would fill the cache. */
function named(value: object, table: Table): string | undefined {
  return (table as unknown as Record<symbol, unknown>)[IS_ALIAS] === true ? undefined : `#${idOf(value)}`
}

function walkAll(chunks: readonly unknown[], values: unknown[], separator = ''): string | undefined {
  let shape = ''
  for (const [index, chunk] of chunks.entries()) {
    const part = walk(chunk, values)
    if (part === undefined) return undefined
    shape += index === 0 ? part : separator + part
  }
  return shape
}

function parameter({ value, encoder }: Param, values: unknown[]): string | undefined {
  const encoded = value === null ? null : encoder.mapToDriverValue(value)
  if (is(encoded, SQL) || (typeof value === 'object' && value !== null && 'getSQL' in value)) return undefined
  values.push(encoded)
  return PARAMETER
}
