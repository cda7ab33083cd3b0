/** Finds the filter operators that a field accepts. */
import { fitsColumn, operatorNames, type OperatorName } from '../../shared/operators'
import type { Kind } from '../../shared/wire'
import { sqlTypeOf } from '../drizzle/index'
import type { Field } from './field'

const COLUMN_KINDS = {
  text: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  date: 'date',
  bigint: 'bigint',
  decimal: 'decimal',
  json: 'opaque',
  blob: 'opaque',
  custom: 'custom',
} as const satisfies Readonly<Record<Kind, string>>

/** Kinds whose values are equal or not, although the database cannot order them: a blob, and a bigint that a blob stores. */
const EQUATABLE: ReadonlySet<Kind> = new Set<Kind>(['bigint', 'blob'])

/** A field without an order is `opaque`, except for these. No list can hold the values of an array. */
function columnKind({ ordered, kind, column }: Field) {
  if (!ordered) return EQUATABLE.has(kind) ? 'bytes' : 'opaque'
  return kind === 'custom' && sqlTypeOf(column).endsWith('[]') ? 'bytes' : COLUMN_KINDS[kind]
}

export const acceptsOperator = (field: Field, name: OperatorName): boolean => fitsColumn(name, columnKind(field))

/** @param extended whether the app has the extended operators */
export const operatorsOf = (field: Field, extended: boolean): readonly OperatorName[] =>
  operatorNames(extended).filter(name => acceptsOperator(field, name))
