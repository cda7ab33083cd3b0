/** The values of changed rows that a plugin can insert before the values are known. */
import type { ChangedValue } from '../../extensions/changes'
import { createAttached } from '../../process/request-scoped'

export const OPERANDS = ['id', 'tenant', 'uuid', 'columns', 'before', 'after'] as const

/** `foreignId` reads columns of the row. {@link foreignIdValue} creates its values. */
export type Operand = typeof OPERANDS[number] | 'foreignId'

const foreignIds = createAttached<readonly string[]>('foreign key')

/** Creates the object that stands for the id in foreign key columns. */
export function foreignIdValue(columns: readonly string[]): ChangedValue {
  const value = { changedValue: 'foreignId' }
  foreignIds.set(value, columns)
  return Object.freeze(value) as unknown as ChangedValue
}

/** Returns the columns of a value of {@link foreignIdValue}. */
export const findForeignKey = (value: unknown): readonly string[] | undefined => foreignIds.get(value)

/** Operands that require `needs: { images: true }`. Their values are JSON. */
export const JSON_OPERANDS: ReadonlySet<Operand> = new Set<Operand>(['columns', 'before', 'after'])

const values = Object.fromEntries(OPERANDS.map(name => [name, Object.freeze({ changedValue: name })])) as
  unknown as Readonly<Record<typeof OPERANDS[number], ChangedValue>>
const names = new Map<unknown, Operand>(OPERANDS.map(name => [values[name], name]))

/** Returns the object that stands for a value. */
export const operandValue = (name: typeof OPERANDS[number]): ChangedValue => values[name]

/** Returns the name of the value that an object stands for, if it stands for one. */
export const findOperand = (value: unknown): Operand | undefined => names.get(value)
