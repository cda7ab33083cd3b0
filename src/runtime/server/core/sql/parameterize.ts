/** The walk over a statement: it finds the key of its text and its values. It does not render the SQL, which costs twenty times as much. */
import { Column, getTableName, is, Name, Param, sql, SQL, StringChunk, Table } from 'drizzle-orm'
import { isConvertedByDialect, tableOf, textOf } from '../../drizzle/index'
import { LateValue, type Engine, type Statement } from '../../engines/engine'
import { expressionOf, hasScopes, ScopeReference } from '../../schema/drizzle/expression'
import { idOf, memoized } from '../memoized'
import type { Compiled, StatementCache } from './statement-cache'
import { constant, EMPTY, ValueRows, where, Where, type Part } from './where'

/** The key and the values of a part of a statement. Parts with the same key have the same text. */
export interface Parameterized {
  readonly key: string
  /** Driver values, in the order of the parameters in the text. */
  readonly values: readonly unknown[]
  readonly late?: true
}

/*
 * A key is the text, with marks for what is no word of this code. Words contain no control characters, and texts from elsewhere begin with
 * their length. So only one sequence of words and parts has a given key.
 */
const PARAMETER = '\u0001?'
const quoted = (text: string) => `\u0002${text.length}:${text}`
const numbered = (id: number) => `\u0003${id};`

/** Tables and columns by number, because names can repeat. `undefined` for SQL that only Drizzle can render. */
const identityOf = memoized((part: object): string | undefined => {
  if (hasScopes(part)) return undefined
  if (is(part, Column)) return isAlias(tableOf(part)) ? aliasedColumn(part) : numbered(idOf(part))
  return is(part, Table) && !isAlias(part) ? numbered(idOf(part)) : undefined
})

const isAlias = (table: Table) => (table as unknown as Record<symbol, unknown>)[Symbol.for('drizzle:IsAlias')] === true

/**
 * The column of an alias is a new object in every request, so its number would fill the cache. Its text depends on these names only:
 * `"alias"."column"`.
 */
function aliasedColumn(column: Column): string {
  const { keyAsName } = column as unknown as { readonly keyAsName?: boolean }
  return `\u0004${quoted(getTableName(tableOf(column)))}${quoted(column.name)}${keyAsName === true}`
}

/** The encoder of a parameter without a column: it returns the value unchanged. */
const UNCHANGED = sql.param(0).encoder

/** What the text of a statement depends on. */
export interface Renderer {
  readonly engine: Engine
  /** The row scopes of the caller are here. */
  readonly memo: ReadonlyMap<string, unknown>
}

/** Returns the SQL for which a column or a row scope stands. @throws When the request has not resolved the row scope. */
function meaningOf({ memo }: Renderer, part: unknown): SQL | Where | undefined {
  if (is(part, Column)) return expressionOf(part)?.sql
  if (!(part instanceof ScopeReference)) return undefined
  const found = memo.get(part.key) as Where | undefined
  if (!found) throw new TypeError(`[auto-api] The row scope of \`${part.resource}\` is missing.`)
  return found
}

/** Writes expressions instead of the columns that stand for them, and renders the SQL. */
export function render(renderer: Renderer, part: Part): { readonly text: string, readonly values: readonly unknown[] } {
  const written = (chunk: unknown): unknown => {
    const found = meaningOf(renderer, chunk)
    if (found) return written(found)
    if (chunk instanceof Where || chunk instanceof ValueRows) return written(chunk.getSQL())
    if (chunk instanceof SQL) return withChunks(chunk, chunk.queryChunks.map(written))
    return Array.isArray(chunk) ? chunk.map(written) : chunk
  }
  return renderer.engine.render(written(part instanceof SQL ? part : where`${part}`) as SQL)
}

/** A copy keeps the settings of the SQL, such as that its parameters are inlined. */
function withChunks(source: SQL, chunks: readonly unknown[]): SQL {
  if (chunks.every((chunk, index) => chunk === source.queryChunks[index])) return source
  const copy = Object.create(Object.getPrototypeOf(source) as object, Object.getOwnPropertyDescriptors(source)) as SQL
  return Object.assign(copy, { queryChunks: chunks })
}

class Walk implements Parameterized {
  key = ''
  readonly values: unknown[] = []
  late?: true

  /** @param renderer renders what the walk does not know. Without it, the walk throws. */
  constructor(private readonly renderer?: Renderer) {}

  add(part: unknown): void {
    if (part instanceof Where) this.addWhere(part)
    else if (part instanceof ValueRows) this.addRows(part)
    else if (part instanceof Param && part.encoder === UNCHANGED && isPlain(part.value)) this.addValue(part.value)
    else {
      const known = part instanceof SQL || part instanceof Param ? undefined : this.identity(part)
      if (known === undefined) this.addSql(part)
      else this.key += known
    }
  }

  private addWhere(part: Where): void {
    if (part.isConstant) this.key += keyOfConstant(part)
    else this.addAll(part)
  }

  addAll({ words, parts }: Where): void {
    this.key += words[0]!
    for (let index = 0; index < parts.length; index++) {
      this.add(parts[index])
      this.key += words[index + 1]!
    }
  }

  private addValue(value: unknown): void {
    this.key += PARAMETER
    this.push(value)
  }

  private addRows({ rows }: ValueRows): void {
    this.key += `\u0008${rows.length}*${rows[0]!.length};`
    for (const row of rows) for (const value of row) this.push(value)
  }

  private push(value: unknown): void {
    if (typeof value === 'object' && value instanceof LateValue) this.late = true
    this.values.push(value)
  }

  private identity(part: unknown): string | undefined {
    return part instanceof Name ? `\u0005${quoted(part.value)}` : identityOf(part as object)
  }

  /** Adds SQL of the app or of a dialect. Subqueries, views, named placeholders and inlined parameters have to be rendered. */
  private addSql(part: unknown): void {
    const { key, values: { length } } = this
    if (this.addChunk(part)) return
    if (!this.renderer) throw new TypeError('[auto-api] Only Drizzle can render this SQL.')
    this.values.length = length
    const rendered = render(this.renderer, new Where(['', ''], [part as Part]))
    this.key = `${key}\u0006${quoted(rendered.text)}`
    for (const value of rendered.values) this.push(value)
  }

  /** Returns false for SQL that only Drizzle can render. */
  private addChunk(chunk: unknown): boolean {
    if (chunk instanceof StringChunk) this.key += quoted(textOf(chunk))
    else if (chunk instanceof Where) this.addWhere(chunk)
    else if (chunk instanceof Param) return this.addParam(chunk)
    else if (chunk instanceof SQL) return !(chunk as unknown as Inlining).shouldInlineParams && this.addChunks(chunk.queryChunks)
    else if (Array.isArray(chunk)) return this.addList(chunk)
    else if (typeof chunk === 'function') return false
    else if (typeof chunk === 'object' && chunk !== null) {
      const known = this.identity(chunk)
      if (known === undefined) return this.addExpression(chunk)
      this.key += known
    }
    else if (chunk !== undefined) this.addValue(chunk)
    return true
  }

  /** Adds the SQL for which a column stands, with the row scopes of the caller. */
  private addExpression(chunk: object): boolean {
    const found = this.renderer && meaningOf(this.renderer, chunk)
    return found !== undefined && this.addChunk(found)
  }

  /** A loop without an iterator, because each request walks through the row filters of its resources. */
  private addChunks(chunks: readonly unknown[]): boolean {
    for (let index = 0; index < chunks.length; index++) if (!this.addChunk(chunks[index])) return false
    return true
  }

  /** Drizzle writes `(a, b)`. */
  private addList(chunks: readonly unknown[]): boolean {
    this.key += '\u0007['
    for (const chunk of chunks) {
      if (!this.addChunk(chunk)) return false
      this.key += '\u0007,'
    }
    this.key += '\u0007]'
    return true
  }

  private addParam({ value, encoder }: Param): boolean {
    if (is(encoder, Column) && isConvertedByDialect(encoder)) return false
    const encoded = value === null ? null : encoder.mapToDriverValue(value)
    if (is(encoded, SQL) || !isPlain(value)) return false
    this.addValue(encoded)
    return true
  }
}

interface Inlining { readonly shouldInlineParams: boolean }

/** Whether the value is no SQL, which Drizzle would write into the text. */
const isPlain = (value: unknown) => typeof value !== 'object' || value === null || !('getSQL' in value)

const NO_SCOPES: Renderer['memo'] = new Map()

/** @param memo contains the row scopes of the caller, which only computed fields need */
export const parameterize = (engine: Engine, part: Part, memo = NO_SCOPES): Parameterized => walkThrough({ engine, memo }, part)

function walkThrough(renderer: Renderer, part: Part): Parameterized {
  const walk = new Walk(renderer)
  walk.add(part)
  return walk
}

const keyOfConstant = memoized((constant: Where): string => {
  const walk = new Walk()
  walk.addAll(constant)
  if (walk.values.length > 0) throw new TypeError('[auto-api] Only SQL without parameters can be used again.')
  return numbered(idOf(constant))
})

const HOLE = sql``

/**
 * Builds SQL around a part once, for functions of a dialect that run in many requests: only the part is new each time.
 * @param build receives the part, and can use it several times
 * @example
 * const likeOf = memoized((column: Column) => template(pattern => adapter.like(column, pattern)))
 */
export function template(build: (hole: SQL) => Part): (part: Part) => Where {
  const segments: unknown[][] = [[]]
  const split = (chunk: unknown): void => {
    if (chunk === HOLE) segments.push([])
    else if (chunk instanceof SQL) chunk.queryChunks.forEach(split)
    else if (chunk instanceof Where) split(chunk.getSQL())
    else segments.at(-1)!.push(chunk)
  }
  split(build(HOLE))
  if (segments.length < 2) throw new TypeError('[auto-api] The SQL of a template does not contain its part.')
  const fixed = segments.map(chunks => chunks.length === 0 ? EMPTY : constant(new SQL(chunks as SQL['queryChunks'])))
  const words = Array.from({ length: fixed.length * 2 }, () => '')
  return part => new Where(words, fixed.flatMap((segment, index) => index === 0 ? [segment] : [part, segment]))
}

/** Returns a statement. Its text is rendered only if the cache of the API does not contain its key. */
export function statement(owner: StatementOwner, part: Where): Statement & { readonly compiled: Compiled } {
  const { api, engine } = owner
  const { key, values, late } = walkThrough(owner, part)
  const compiled = api.statements(`${engine.name}|${key}`, () => {
    const rendered = render(owner, part)
    if (rendered.values.length !== values.length)
      throw new Error(`[auto-api] The statement ${rendered.text} has ${rendered.values.length} parameters for ${values.length} values.`)
    return { text: rendered.text }
  })
  return late ? { text: compiled.text, values, compiled, late } : { text: compiled.text, values, compiled }
}

interface StatementOwner extends Renderer {
  readonly api: { readonly statements: StatementCache }
}
