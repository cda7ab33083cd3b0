/**
 * Expressions: SQL that stands for a column. Such a column has the type of a column, and the text of its SQL is that of the expression.
 * Everything that reads columns therefore reads expressions. `parameterize` writes the SQL.
 */
import { Column, is, SQL, type SQLWrapper, type Table } from 'drizzle-orm'

const EXPRESSION = Symbol.for('nuxt-auto-api:expression')

/** A part of an expression that depends on the caller: the rows of a resource that they can read. */
export class ScopeReference implements SQLWrapper {
  /**
   * @param key its key in the memo of a session, where the SQL of the caller is
   * @param table the table of the resource or an alias of it
   */
  constructor(readonly key: string, readonly resource: string, readonly table: Table) {}

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

/** Whether a part of a statement depends on the caller through a {@link ScopeReference}. */
export function hasScopes(part: unknown): boolean {
  if (is(part, Column)) return (expressionOf(part)?.scopes.length ?? 0) > 0
  if (part instanceof ScopeReference) return true
  if (is(part, SQL)) return part.queryChunks.some(hasScopes)
  return Array.isArray(part) && part.some(hasScopes)
}
