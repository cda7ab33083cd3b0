/** The operators of each kind of column, and the conversion of typed text to a value. */
import type { FieldKind } from '../resources'

export type Operator = '$eq' | '$ne' | '$gt' | '$gte' | '$lt' | '$lte' | '$like' | '$in' | '$nin' | '$null'

export const OPERATOR_LABELS: Readonly<Record<Operator, string>> = {
  $eq: 'is',
  $ne: 'is not',
  $gt: 'is greater than',
  $gte: 'is at least',
  $lt: 'is less than',
  $lte: 'is at most',
  $like: 'contains',
  $in: 'is one of',
  $nin: 'is none of',
  $null: 'has no value',
}

const EQUAL = ['$eq', '$ne'] as const
const ORDERED = ['$gt', '$gte', '$lt', '$lte'] as const
const LISTED = ['$in', '$nin'] as const

const OPERATORS: Readonly<Record<'number' | 'text' | 'date' | 'boolean' | 'json' | 'choice', readonly Operator[]>> = {
  number: [...EQUAL, ...ORDERED, ...LISTED, '$null'],
  text: ['$like', ...EQUAL, ...ORDERED, ...LISTED, '$null'],
  date: [...ORDERED, ...EQUAL, '$null'],
  boolean: [...EQUAL, '$null'],
  json: ['$null'],
  choice: [...EQUAL, ...LISTED, '$null'],
}

const kindName = (kind: FieldKind) => typeof kind === 'string' ? kind : 'choice'

export function operatorsFor(kind: FieldKind): readonly Operator[] {
  return OPERATORS[kindName(kind)]
}

/** The input for a value: a select with `options`, or an `<input>` of a `type`. */
export interface Input { readonly type?: string, readonly hint?: string, readonly options?: readonly string[] }

export function inputFor(kind: FieldKind, operator: Operator): Input {
  if (operator === '$null' || kind === 'boolean')
    return { options: ['true', 'false'] }
  if (operator === '$in' || operator === '$nin')
    return { type: 'text', hint: Array.isArray(kind) ? kind.join(', ') : 'one, two, three' }
  return typeof kind === 'string' ? { type: kind } : { options: kind }
}

/** The initial value of the input. */
export function firstValue(kind: FieldKind, operator: Operator): string {
  return inputFor(kind, operator).options?.[0] ?? ''
}

/** Converts typed text to a value. Invalid text stays as it is, so that the API returns its error. */
export function toValue(text: string, kind: FieldKind, operator: Operator): unknown {
  if (operator === '$null')
    return text === 'true'
  if (operator === '$in' || operator === '$nin')
    return text.split(',').map(part => convert(part.trim(), kind))
  return convert(text, kind)
}

function convert(text: string, kind: FieldKind): unknown {
  if (kind === 'number')
    return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  return kind === 'boolean' ? text === 'true' : text
}
