/**
 * The one form of SQL in this package: words and parts. Its key in the statement cache, its values and its text come from one walk over it
 * (see `parameterize`), so two different statements cannot share a key, and the values have the order of the parameters.
 */
import { sql, SQL, type Column, type Param, type SQLWrapper, type Table } from 'drizzle-orm'
import { hasScopes } from '../../schema/drizzle/expression'

/** What stands between the words. SQL of the app and of a dialect is a part like any other. */
export type Part = Where | ValueRows | SQL | Column | Table | Param | Name
type Name = ReturnType<typeof sql.identifier>

/** What a condition says about itself. */
export interface Traits {
  /** Whether the app wrote this SQL. */
  readonly custom?: boolean
  /** Whether the condition selects the rows of a list of keys. */
  readonly byKeys?: boolean
  /** Replaces the condition if another one with `byKeys` is beside it. */
  readonly besideKeys?: Where
}

const NO_TRAITS: Traits = {}

/** A condition or any other part of a statement. It does not change. */
export class Where implements SQLWrapper {
  constructor(
    readonly words: readonly string[],
    readonly parts: readonly Part[],
    readonly traits: Traits = NO_TRAITS,
    /** Whether it is built once and used in many statements. See {@link constant}. */
    readonly isConstant = false,
  ) {}

  getSQL(): SQL {
    return sql(this.words as unknown as TemplateStringsArray, ...this.parts.map(withoutWhere))
  }

  with(traits: Traits): Where {
    return new Where(this.words, this.parts, { ...this.traits, ...traits }, this.isConstant)
  }
}

/** Replaces conditions inside of SQL, around which Drizzle would write parentheses. */
function withoutWhere(part: unknown): unknown {
  if (part instanceof Where || part instanceof ValueRows) return part.getSQL()
  if (!(part instanceof SQL) || !part.queryChunks.some(hasWhere)) return part
  return new SQL(part.queryChunks.map(withoutWhere) as SQL['queryChunks'])
}

const hasWhere = (chunk: unknown): boolean => chunk instanceof Where || (chunk instanceof SQL && chunk.queryChunks.some(hasWhere))

/**
 * Builds a part of a statement.
 * @example
 * where`${field.column} = ${value(field.encode(id))}`
 */
export function where(words: TemplateStringsArray, ...parts: readonly Part[]): Where {
  return new Where(words, parts)
}

/** A parameter of the statement. @param driverValue what the driver receives */
export const value = (driverValue: unknown): Param => sql.param(driverValue)

/** The rows of an insert: `(?, ?), (?, ?)`. One object instead of one for each parameter. */
export class ValueRows implements SQLWrapper {
  /** @param rows what the driver receives, the same number of values in each row */
  constructor(readonly rows: readonly (readonly unknown[])[]) {}

  getSQL(): SQL {
    return commaList(this.rows.map(row => where`(${commaList(row.map(value))})`)).getSQL()
  }
}

/** SQL of a dialect around a part, for functions that take Drizzle's SQL. */
export const asSql = (part: Part): SQL => sql`${part}`

/**
 * Marks SQL that is built once and used in many statements, so that walks do not enter it. Its object identifies its text. SQL that depends
 * on the caller, such as a computed field with a row scope, is not marked.
 * @throws When a statement uses it: if it has parameters, or only Drizzle can render it.
 */
export const constant = (part: Part): Where => new Where(['', ''], [part], undefined, !dependsOnCaller(part))

const dependsOnCaller = (part: Part): boolean => part instanceof Where ? part.parts.some(dependsOnCaller) : hasScopes(part)

export const EMPTY = where``

/** Accepts a string only if its type is a literal, that is, a word of this code. Text from elsewhere is a name or a value. */
type Literal<T> = T extends string ? (string extends T ? never : T) : never

const words = new Map<string, Where>()

/** A word that depends on a condition, such as `asc` or `desc`. */
export function word<const T extends string>(text: T & Literal<T>): Where {
  let known = words.get(text)
  if (!known) words.set(text, known = new Where([text], []))
  return known
}

/** Longer lists are few. Clients decide about their lengths, so that keeping them could fill the memory. */
const MAX_KEPT = 32
const separators = new Map<string, (readonly string[])[]>()

/** The words around a number of parts: none before the first one and after the last one. */
function wordsBetween(separator: string, count: number): readonly string[] {
  const create = () => ['', ...Array.from({ length: count - 1 }, () => separator), '']
  if (count > MAX_KEPT) return create()
  let known = separators.get(separator)
  if (!known) separators.set(separator, known = [])
  return known[count] ??= create()
}

/** Joins the parts with a word of this code. */
export function joined<const T extends string>(parts: readonly Part[], separator: T & Literal<T>): Where {
  return parts.length === 0 ? EMPTY : new Where(wordsBetween(separator, parts.length), parts)
}

export const commaList = (parts: readonly Part[]): Where => joined(parts, ', ')
