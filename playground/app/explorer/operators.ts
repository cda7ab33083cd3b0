/** The labels of the operators, and the conversion of typed text to a value. The API describes which operators a field has. */
import type { FieldView } from '../resources'

export const OPERATOR_LABELS = {
  $eq: 'is',
  $ne: 'is not',
  $gt: 'is greater than',
  $gte: 'is at least',
  $lt: 'is less than',
  $lte: 'is at most',
  $like: 'matches',
  $in: 'is one of',
  $nin: 'is none of',
  $null: 'has no value',
  $between: 'is between',
  $notLike: 'does not match',
  $startsWith: 'starts with',
  $endsWith: 'ends with',
  $contains: 'contains the text',
  $eqi: 'is, in any case',
} as const

export type Operator = keyof typeof OPERATOR_LABELS

export const isOperator = (name: unknown): name is Operator => Object.hasOwn(OPERATOR_LABELS, String(name))

/** The operators that search text. Every other value has the type of its field. */
const TEXT: ReadonlySet<Operator> = new Set(['$like', '$notLike', '$startsWith', '$endsWith', '$contains', '$eqi'])

/** The parts of a field that decide how a value is typed in. */
type Typed = Pick<FieldView, 'kind' | 'enum'>

/** The input for a value: a select with `options`, or an `<input>` of a `type`. */
export interface Input { readonly type?: string, readonly hint?: string, readonly options?: readonly string[] }

const INPUT_TYPES: Readonly<Record<string, string>> = { number: 'number', integer: 'number', date: 'date' }

export function inputFor({ kind, enum: choices }: Typed, operator: Operator): Input {
  if (operator === '$null' || kind === 'boolean')
    return { options: ['true', 'false'] }
  if (operator === '$in' || operator === '$nin')
    return { type: 'text', hint: choices?.join(', ') ?? 'one, two, three' }
  if (operator === '$between')
    return { type: 'text', hint: 'first, last' }
  if (TEXT.has(operator))
    return { type: 'text' }
  return choices ? { options: choices } : { type: INPUT_TYPES[kind] ?? 'text' }
}

/** Values that the API accepts, by kind. */
const SAMPLES: Readonly<Record<string, string>> = { integer: '1', number: '1', bigint: '1', decimal: '1', date: '2025-01-01', boolean: 'true', json: 'true' }

/** The initial value of the input: one that the API accepts, so that a new condition never fails. */
export function firstValue(field: Typed, operator: Operator): string {
  const [first] = inputFor(field, operator).options ?? field.enum ?? []
  const value = first ?? SAMPLES[field.kind] ?? 'a'
  return operator === '$between' ? `${value}, ${value}` : value
}

/** Converts typed text to a value. Invalid text stays as it is, so that the API returns its error. */
export function toValue(text: string, { kind }: Typed, operator: Operator): unknown {
  if (operator === '$null')
    return text === 'true'
  if (TEXT.has(operator))
    return text
  if (operator === '$in' || operator === '$nin' || operator === '$between')
    return text.split(',').map(part => convert(part.trim(), kind))
  return convert(text, kind)
}

function convert(text: string, kind: string): unknown {
  if (kind === 'number' || kind === 'integer')
    return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  return kind === 'boolean' ? text === 'true' : text
}
