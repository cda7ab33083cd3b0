/** The values of changed rows that a plugin can insert before the values are known. */
import type { ChangedValue } from '../../../changes'

export const OPERANDS = ['id', 'tenant', 'uuid', 'columns', 'before', 'after'] as const

export type Operand = typeof OPERANDS[number]

/** Operands that require `needs: { images: true }`. Their values are JSON. */
export const JSON_OPERANDS: ReadonlySet<Operand> = new Set<Operand>(['columns', 'before', 'after'])

const values = Object.fromEntries(OPERANDS.map(name => [name, Object.freeze({ changedValue: name })])) as
  unknown as Readonly<Record<Operand, ChangedValue>>
const names = new Map<unknown, Operand>(OPERANDS.map(name => [values[name], name]))

/** Returns the object that stands for a value. */
export const operandValue = (name: Operand): ChangedValue => values[name]

/** Returns the name of the value that an object stands for, if it stands for one. */
export const findOperand = (value: unknown): Operand | undefined => names.get(value)
