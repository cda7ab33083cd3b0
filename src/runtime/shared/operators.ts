/** The filter operators of the API. The parser, the planner, `having`, the types of the client and the docs use this table. */

/**
 * The kind of a column, which decides its operators. `bytes` is a blob, or another type whose values are only equal or not.
 * `opaque` is JSON, or another type that cannot be compared.
 */
type ColumnKind = 'text' | 'number' | 'decimal' | 'bigint' | 'date' | 'custom' | 'boolean' | 'bytes' | 'opaque'

interface Columns {
  readonly kinds: readonly ColumnKind[]
  /** The text for these columns in the docs. */
  readonly label: string
}

const TEXT = { kinds: ['text'], label: 'text' } as const satisfies Columns

const ORDERED = {
  kinds: ['text', 'number', 'decimal', 'bigint', 'date', 'custom'],
  label: 'all except booleans, JSON and blobs',
} as const satisfies Columns

const LISTED = { kinds: [...ORDERED.kinds, 'boolean'], label: 'all except JSON and blobs' } as const satisfies Columns

const COMPARABLE = { kinds: [...LISTED.kinds, 'bytes'], label: 'all except JSON' } as const satisfies Columns

const ALL = { kinds: [...COMPARABLE.kinds, 'opaque'], label: 'all' } as const satisfies Columns

interface Operator {
  /**
   * The form of the operand: a column value, a column value or null, a list of values, a list of the smallest and the largest value, text
   * with wildcards, literal text, or a boolean.
   */
  readonly value: 'value' | 'nullable' | 'list' | 'range' | 'pattern' | 'text' | 'boolean'
  readonly columns: Columns
  /** The description in the docs. */
  readonly matches: string
  /** Present if the operator compares with one value. `having` accepts these operators too. */
  readonly comparison?: {
    readonly symbol: '=' | '<>' | '>' | '>=' | '<' | '<='
    /** The results of a compare function, as for `Array.sort`, for which the operator is true. */
    readonly signs: readonly (-1 | 0 | 1)[]
  }
  /**
   * Whether the app has to turn the operator on with `filters.extended`.
   * @default false
   */
  readonly extended?: true
}

export const OPERATORS = {
  $eq: {
    value: 'nullable',
    columns: COMPARABLE,
    matches: 'equal values; `null` matches rows without a value',
    comparison: { symbol: '=', signs: [0] },
  },
  $ne: {
    value: 'nullable',
    columns: COMPARABLE,
    matches: 'other values; `null` matches rows with a value',
    comparison: { symbol: '<>', signs: [-1, 1] },
  },
  $gt: { value: 'value', columns: ORDERED, matches: 'larger values', comparison: { symbol: '>', signs: [1] } },
  $gte: { value: 'value', columns: ORDERED, matches: 'larger or equal values', comparison: { symbol: '>=', signs: [0, 1] } },
  $lt: { value: 'value', columns: ORDERED, matches: 'smaller values', comparison: { symbol: '<', signs: [-1] } },
  $lte: { value: 'value', columns: ORDERED, matches: 'smaller or equal values', comparison: { symbol: '<=', signs: [-1, 0] } },
  $in: { value: 'list', columns: LISTED, matches: 'one of at most 500 values' },
  $nin: { value: 'list', columns: LISTED, matches: 'none of at most 500 values' },
  $like: { value: 'pattern', columns: TEXT, matches: '[text](#text-search)' },
  $null: { value: 'boolean', columns: ALL, matches: '`true`: no value; `false`: any value' },
  $between: { value: 'range', columns: ORDERED, matches: 'values from the first to the second of a list, both included', extended: true },
  $notLike: { value: 'pattern', columns: TEXT, matches: 'what `$like` does not match, except `null`', extended: true },
  $startsWith: { value: 'text', columns: TEXT, matches: 'text that begins with the value', extended: true },
  $endsWith: { value: 'text', columns: TEXT, matches: 'text that ends with the value', extended: true },
  $contains: { value: 'text', columns: TEXT, matches: 'text that contains the value', extended: true },
  $eqi: { value: 'text', columns: TEXT, matches: 'equal text, whatever its case', extended: true },
} as const satisfies Readonly<Record<`$${string}`, Operator>>

type Operators = typeof OPERATORS

export type OperatorName = keyof Operators

/** The operators that need `filters.extended`. */
export type ExtendedName = { [N in OperatorName]: Operators[N] extends { readonly extended: true } ? N : never }[OperatorName]

/** The keys that combine conditions. Without `filters.extended`, only `$or` exists, and only at the top level of a filter. */
export const COMBINATIONS = ['$and', '$or', '$not'] as const

/** The operators that `having` accepts. */
export type ComparisonName = { [N in OperatorName]: Operators[N] extends { readonly comparison: object } ? N : never }[OperatorName]

export const isOperator = (name: string): name is OperatorName => Object.hasOwn(OPERATORS, name)

export const isComparison = (name: string): name is ComparisonName => isOperator(name) && 'comparison' in OPERATORS[name]

/** The names of the operators that `having` accepts. */
export const COMPARISONS: readonly ComparisonName[] = Object.keys(OPERATORS).filter(isComparison)

/** Whether an operator exists in an app. */
export const isInForce = (name: OperatorName, extended: boolean): boolean => extended || !('extended' in OPERATORS[name])

/** The names of the operators that exist in an app. */
export const operatorNames = (extended: boolean): readonly OperatorName[] => NAMES.filter(name => isInForce(name, extended))

const NAMES = Object.keys(OPERATORS) as readonly OperatorName[]

/** Whether an operator searches text. Its cost grows with the size of the rows. */
export const isSearch = (name: OperatorName): boolean => OPERATORS[name].value === 'pattern' || OPERATORS[name].value === 'text'

/** Whether an operator accepts columns of this kind. */
export function fitsColumn(name: OperatorName, kind: ColumnKind): boolean {
  const { kinds }: Columns = OPERATORS[name].columns
  return kinds.includes(kind)
}

/** The type of each operand form, for a column with values of type `V`. */
interface ValueForms<V> {
  value: V
  nullable: V | null
  list: readonly V[]
  range: readonly [V, V]
  pattern: string
  text: string
  boolean: boolean
}

/** The operators for columns of kind `K`, with the types of their operands. `Off` are the names that the app does not have. */
export type OperatorsOf<K, V, Off extends OperatorName = never> = {
  [N in Exclude<OperatorName, Off> as K extends Operators[N]['columns']['kinds'][number] ? N : never]?: ValueForms<V>[Operators[N]['value']]
}
