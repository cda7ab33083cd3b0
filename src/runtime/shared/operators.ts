/** The filter operators of the API: one row each, for the parser, the planner, `having`, the client's types and the docs. */

/** The kinds of columns that differ in their operators. `bytes`: a bigint in a blob. `opaque`: JSON, blobs, and types without an order. */
type ColumnKind = 'text' | 'number' | 'decimal' | 'bigint' | 'date' | 'custom' | 'boolean' | 'bytes' | 'opaque'

interface Columns {
  readonly kinds: readonly ColumnKind[]
  /** Their name in the docs. */
  readonly label: string
}

const TEXT = { kinds: ['text'], label: 'text' } as const satisfies Columns

const ORDERED = {
  kinds: ['text', 'number', 'decimal', 'bigint', 'date', 'custom'],
  label: 'all except booleans, JSON and blobs',
} as const satisfies Columns

const LISTED = { kinds: [...ORDERED.kinds, 'boolean'], label: 'all except JSON and blobs' } as const satisfies Columns

const COMPARABLE = { kinds: [...LISTED.kinds, 'bytes'], label: 'all except JSON and blobs' } as const satisfies Columns

const ALL = { kinds: [...COMPARABLE.kinds, 'opaque'], label: 'all' } as const satisfies Columns

interface Operator {
  /** A value of the column, a value or null, a list of values, text with wildcards, or true and false. */
  readonly value: 'value' | 'nullable' | 'list' | 'pattern' | 'boolean'
  readonly columns: Columns
  /** The description in the docs. */
  readonly matches: string
  /** Of operators that compare with one value: `having` takes them too. */
  readonly comparison?: {
    readonly symbol: '=' | '<>' | '>' | '>=' | '<' | '<='
    /** The order of the two values for which the comparison holds, as a sort function returns it. */
    readonly signs: readonly (-1 | 0 | 1)[]
  }
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
} as const satisfies Readonly<Record<`$${string}`, Operator>>

type Operators = typeof OPERATORS

export type OperatorName = keyof Operators

/** The operators that `having` takes. */
export type ComparisonName = { [N in OperatorName]: Operators[N] extends { readonly comparison: object } ? N : never }[OperatorName]

export const isOperator = (name: string): name is OperatorName => Object.hasOwn(OPERATORS, name)

export const isComparison = (name: string): name is ComparisonName => isOperator(name) && 'comparison' in OPERATORS[name]

/** Whether an operator takes columns of a kind. */
export function fitsColumn(name: OperatorName, kind: ColumnKind): boolean {
  const { kinds }: Columns = OPERATORS[name].columns
  return kinds.includes(kind)
}

/** The types of an operator's values, for values of type `V`. */
interface ValueForms<V> {
  value: V
  nullable: V | null
  list: readonly V[]
  pattern: string
  boolean: boolean
}

/** The operators of a kind of column, with their values. */
export type OperatorsOf<K, V> = {
  [N in OperatorName as K extends Operators[N]['columns']['kinds'][number] ? N : never]?: ValueForms<V>[Operators[N]['value']]
}
