/** Reads the SQL of a computed field once, at startup. */
import { Column, is, Name, Param, sql, SQL, StringChunk, Table, type SQLWrapper } from 'drizzle-orm'
import { encodeValue, tableOf, textOf } from '../../drizzle/index'
import { expressionOf, ScopeReference, type Expression } from './expression'

/** Writes the cast of an expression to the type of its column. */
export type Cast = (value: SQL) => SQL

/**
 * @param own the table of the resource
 * @throws {TypeError} When the SQL contains a value that has no literal, or something that is no SQL.
 */
export function createExpression(source: SQL, own: Table, escapeText: (text: string) => string, cast: Cast): Expression {
  const reader = new Reader(own, escapeText)
  const read = reader.read(source)
  return Object.freeze({
    sql: cast(sql`(${read})`),
    scopes: reader.scopes,
    readsRows: reader.scopes.length > 0 || reader.readsOthers || /\bselect\b/i.test(reader.text),
    tables: reader.tables,
    text: reader.text,
  })
}

/** Copies SQL, with literals instead of parameters: databases then know that an expression in `group by` is that of `select`. */
class Reader {
  readonly scopes: ScopeReference[] = []
  readonly tables: Table[] = []
  readsOthers = false
  text = ''

  constructor(private readonly own: Table, private readonly escapeText: (text: string) => string) {}

  read(source: SQL): SQL {
    return new SQL(source.queryChunks.map(chunk => this.chunk(chunk)) as SQL['queryChunks'])
  }

  private chunk(chunk: unknown): unknown {
    if (is(chunk, StringChunk)) this.text += textOf(chunk)
    else if (chunk instanceof ScopeReference) this.scopes.push(chunk)
    else if (is(chunk, Column)) {
      const known = expressionOf(chunk)
      if (known) throw new TypeError('it uses another computed field. Use its SQL instead')
      if (tableOf(chunk) !== this.own) this.readsOthers = true
    }
    else if (is(chunk, Table)) this.tables.push(chunk)
    else if (is(chunk, SQL)) return this.read(chunk)
    else if (is(chunk, Param)) return this.param(chunk)
    else if (is(chunk, Name) || chunk === undefined) return chunk
    else if (Array.isArray(chunk)) return this.list(chunk)
    else if (isWrapper(chunk)) return sql`(${this.read(chunk.getSQL())})`
    else return this.literal(chunk)
    return chunk
  }

  /** Drizzle writes `(a, b)`. */
  private list(items: readonly unknown[]): SQL {
    return sql`(${sql.join(items.map(item => sql`${this.chunk(item)}`), sql`, `)})`
  }

  private param({ value, encoder }: Param): unknown {
    if (isWrapper(value)) return this.chunk(value)
    return this.literal(value === null || !is(encoder, Column) ? value : encodeValue(encoder, value))
  }

  private literal(value: unknown): unknown {
    if (is(value, SQL)) return this.read(value)
    if (value === null) return sql.raw('null')
    // With parentheses, because `-` before a negative number would begin a comment.
    if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return sql.raw(`(${value})`)
    if (typeof value === 'boolean') return sql.raw(String(value))
    if (typeof value === 'string' && !value.includes('\0')) return sql.raw(this.escapeText(value))
    throw new TypeError('a value in its SQL is neither text nor a number nor a boolean')
  }
}

const isWrapper = (value: unknown): value is SQLWrapper =>
  typeof value === 'object' && value !== null && typeof (value as Partial<SQLWrapper>).getSQL === 'function'
