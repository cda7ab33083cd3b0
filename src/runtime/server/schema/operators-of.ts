/** Finds the filter operators that a field accepts. */
import { fitsColumn, OPERATORS, type OperatorName } from '../../shared/operators'
import type { Kind } from '../../shared/wire'
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

/** A field without an order is `opaque`, except a bigint that a blob stores. */
const columnKind = ({ ordered, kind }: Field) => ordered ? COLUMN_KINDS[kind] : kind === 'bigint' ? 'bytes' : 'opaque'

export const acceptsOperator = (field: Field, name: OperatorName): boolean => fitsColumn(name, columnKind(field))

const NAMES = Object.keys(OPERATORS) as readonly OperatorName[]

export const operatorsOf = (field: Field): readonly OperatorName[] => NAMES.filter(name => acceptsOperator(field, name))
