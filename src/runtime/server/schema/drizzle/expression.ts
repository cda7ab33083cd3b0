/**
 * Expressions: SQL that stands for a column. Such a column has the type of a column, and the text of its SQL is that of the expression.
 * Everything that reads columns therefore reads expressions. `parameterize` writes the SQL.
 */
import { Column, is, Name, Param, sql, SQL, StringChunk, Table, type SQLWrapper } from 'drizzle-orm'
import { encodeValue, tableOf, textOf } from '../../drizzle/index'

const EXPRESSION = Symbol.for('nuxt-auto-api:expression')

/** A part of an expression that depends on the caller: the rows of a resource that they can read. */
export class ScopeReference implements SQLWrapper {
  /** @param table the table of the resource or an alias of it */
  constructor(readonly resource: string, readonly table: Table) {}

  getSQL(): SQL {
    throw new TypeError(`[auto-api] The row scope of \`${this.resource}\` is only known in a request.`)
  }
}

export interface Expression {
  /** Without parameters. */
  readonly sql: SQL
  readonly scopes: readonly ScopeReference[]
  /** Whether the SQL reads rows besides the row itself. */
  readonly readsRows: boolean
  /** The tables whose rows it reads, as far as they are no text. */
  readonly tables: readonly Table[]
  /** The words of the SQL. */
  readonly text: string
}

/** Returns the expression for which a column stands. */
export const expressionOf = (column: Column): Expression | undefined => (column as { readonly [EXPRESSION]?: Expression })[EXPRESSION]

/** Makes a copy of a column stand for an expression. */
export const withExpression = (column: Column, expression: Expression): Column => Object.assign(column, { [EXPRESSION]: expression })

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

/** Whether a part of a statement depends on the caller through a {@link ScopeReference}. */
export function hasScopes(part: unknown): boolean {
  if (is(part, Column)) return (expressionOf(part)?.scopes.length ?? 0) > 0
  if (part instanceof ScopeReference) return true
  if (is(part, SQL)) return part.queryChunks.some(hasScopes)
  return Array.isArray(part) && part.some(hasScopes)
}
