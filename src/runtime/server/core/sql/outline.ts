/** Separates SQL of the app from its parameters. It does not render the SQL, because that costs twenty times as much. */
import { Column, getTableName, is, Name, Param, SQL, StringChunk, Table } from 'drizzle-orm'
import { isConvertedByDialect, tableOf, textOf } from '../../drizzle/index'
import { idOf, quoted, type Shape } from './shape'

export interface Outline {
  /** Conditions with the same shape have the same text. */
  readonly shape: Shape
  readonly values: readonly unknown[]
}

const IS_ALIAS = Symbol.for('drizzle:IsAlias')

/** Represents a parameter. Text of the app is quoted, so it cannot equal this or another part of a shape. */
const PARAMETER = '?'

/** SQL without parameters. Its object identifies its text. */
const fixed = new WeakSet<SQL>()

/**
 * Marks SQL that is built once and used in many requests, so that later outlines do not walk through it.
 * @throws If the SQL has parameters, or only Drizzle can render it.
 */
export function toFixedSql(condition: SQL): SQL {
  if (outline(condition)?.values.length !== 0) throw new TypeError('[auto-api] Only SQL without parameters can be used again.')
  fixed.add(condition)
  return condition
}

/** Returns `undefined` if the SQL must be rendered: for subqueries, views, named placeholders and inlined parameters. */
export function outline(condition: SQL): Outline | undefined {
  const values: unknown[] = []
  const shape = walk(condition, values)
  return shape === undefined ? undefined : { shape: shape as Shape, values }
}

function walk(chunk: unknown, values: unknown[]): string | undefined {
  if (chunk instanceof StringChunk) return quoted(textOf(chunk))
  if (chunk instanceof Param) return parameter(chunk, values)
  if (chunk instanceof SQL) {
    if (fixed.has(chunk)) return `#${idOf(chunk)}`
    return (chunk as unknown as { shouldInlineParams: boolean }).shouldInlineParams ? undefined : walkAll(chunk.queryChunks, values)
  }
  if (Array.isArray(chunk)) {
    const list = walkAll(chunk, values, ',')
    return list === undefined ? undefined : `[${list}]`
  }
  if (is(chunk, Column)) return isAlias(tableOf(chunk)) ? aliasedColumn(chunk) : `#${idOf(chunk)}`
  if (is(chunk, Table)) return isAlias(chunk) ? undefined : `#${idOf(chunk)}`
  if (is(chunk, Name)) return `name ${quoted(chunk.value)}`
  if (chunk === undefined) return ''
  if (typeof chunk === 'function' || (typeof chunk === 'object' && chunk !== null)) return undefined
  values.push(chunk)
  return PARAMETER
}

const isAlias = (table: Table) => (table as unknown as Record<symbol, unknown>)[IS_ALIAS] === true

/**
 * The column of an alias is a new object in every request, so its id would fill the cache. Its text depends on these names only:
 * `"alias"."column"`.
 */
function aliasedColumn(column: Column): string {
  const { keyAsName } = column as unknown as { readonly keyAsName?: boolean }
  return `alias ${quoted(getTableName(tableOf(column)))} ${quoted(column.name)} ${keyAsName === true}`
}

/** A loop without an iterator, because each request outlines the row filters of its resources. */
function walkAll(chunks: readonly unknown[], values: unknown[], separator = ''): string | undefined {
  let shape = ''
  for (let index = 0; index < chunks.length; index++) {
    const part = walk(chunks[index], values)
    if (part === undefined) return undefined
    shape += index === 0 ? part : separator + part
  }
  return shape
}

function parameter({ value, encoder }: Param, values: unknown[]): string | undefined {
  if (is(encoder, Column) && isConvertedByDialect(encoder)) return undefined
  const encoded = value === null ? null : encoder.mapToDriverValue(value)
  if (is(encoded, SQL) || (typeof value === 'object' && value !== null && 'getSQL' in value)) return undefined
  values.push(encoded)
  return PARAMETER
}
