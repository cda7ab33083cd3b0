/** Computed fields: read-only fields whose values the database computes with SQL. */
import type { SQL, Table } from 'drizzle-orm'
import type { ComputedType } from '../shared/computed-types'

/** What the SQL of a computed field can use besides the table of its resource. */
export interface ComputedTools {
  /**
   * Returns the condition for the rows of another resource that the caller can read. Use it for every table that a subquery reads:
   * without it, the values depend on rows that the caller cannot see. For a caller who cannot read the resource, it matches no row.
   * @param resource the name of a registered resource, which has no `objectLevel` rule
   * @param table the table of the resource, or an alias of it
   */
  readonly scope: (resource: string, table: Table) => SQL
}

/** The SQL of a computed field, or a function that returns it. The server calls the function once, when it starts. */
export type ComputedExpression<T, V = unknown> = SQL<V> | ((table: T, tools: ComputedTools) => SQL<V>)

export interface ComputedOptions {
  /**
   * `true` leaves the field out of responses, unless the parameter `fields` names it. Use it for SQL that costs much.
   * @default false
   */
  readonly lazy?: boolean
  /**
   * `true` for values that change without a write, such as a comparison with the current time. Entity tags do not depend on such a field,
   * the response cache does not store its values, and lists that are sorted by it have no cursors.
   * @default false
   */
  readonly volatile?: boolean
  /**
   * The resources of the other tables that the SQL reads. Entity tags then depend on the field, and the response cache stores its values
   * until one of these resources changes. Without this option, a field with a subquery has neither.
   * @default []
   */
  readonly tracks?: readonly string[]
}

/**
 * A computed field of a resource. Values can always be null.
 * @typeParam T the table of the resource
 * @typeParam Type decides about the operators of the field and about the form of its values in JSON
 * @typeParam V the values as hooks receive them
 */
export interface ComputedField<
  T = never, Type extends ComputedType = ComputedType, V = unknown, Options extends ComputedOptions = ComputedOptions,
> {
  readonly type: Type
  readonly expression: ComputedExpression<T>
  readonly options: Options
  /** Only a type. */
  readonly value?: V
}

/** The computed fields of a resource, by name. */
export type ComputedFields<T> = Readonly<Record<string, ComputedField<T>>>

type Create<Type extends ComputedType, V> = <T, const Options extends ComputedOptions = Record<never, never>>(
  expression: ComputedExpression<T>, options?: Options,
) => ComputedField<T, Type, V, Options>

const create = <Type extends ComputedType, V>(type: Type): Create<Type, V> =>
  <T, Options extends ComputedOptions>(expression: ComputedExpression<T>, options?: Options) =>
    Object.freeze({ type, expression, options: Object.freeze({ ...options } as Options) })

/**
 * Defines a field whose values the database computes. It can be used like a column in `fields`, `filter`, `sort`, aggregates and exports.
 * Requests cannot write it. The name of the function is the type of the values:
 *
 * - `text`, `boolean`, `json`
 * - `integer` for integers that a JavaScript number can hold, `bigint` for others
 * - `number` for floating-point numbers, `decimal` for exact ones, which JSON contains as text
 * - `timestamp` for times. In SQLite, the SQL returns the seconds since 1970. Add `.mapWith(column)` if it returns the values of a column.
 *
 * @example
 * computed: {
 *   wordCount: computed.integer(t => sql`length(${t.body}) - length(replace(${t.body}, ' ', '')) + 1`),
 *   commentCount: computed.integer((t, { scope }) =>
 *     sql`(select count(*) from ${comments} where ${comments.postId} = ${t.id} and ${scope('comments', comments)})`),
 * }
 */
export const computed = Object.freeze({
  text: create<'text', string>('text'),
  integer: create<'integer', number>('integer'),
  number: create<'number', number>('number'),
  bigint: create<'bigint', bigint>('bigint'),
  decimal: create<'decimal', string>('decimal'),
  boolean: create<'boolean', boolean>('boolean'),
  timestamp: create<'timestamp', Date>('timestamp'),
  /** The type of the values is that of the SQL: sql<string[]>`…` */
  json: <T, V, const Options extends ComputedOptions = Record<never, never>>(
    expression: ComputedExpression<T, V>, options?: Options,
  ): ComputedField<T, 'json', V, Options> => create<'json', V>('json')(expression, options),
})
