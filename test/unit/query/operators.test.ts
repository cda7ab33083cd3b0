/** The explorer of the playground has a label for every operator, and offers only operators that fit the column. */
import { describe, expect, it } from 'vitest'
import { OPERATOR_LABELS, operatorsFor } from '../../../playground/app/explorer/operators'
import { fitsColumn, OPERATORS } from '../../../src/runtime/shared/operators'

describe('the explorer of the playground', () => {
  it('has a label for every operator', () => {
    expect(Object.keys(OPERATOR_LABELS).toSorted()).toEqual(Object.keys(OPERATORS).toSorted())
  })

  it.each([['number', 'number'], ['text', 'text'], ['date', 'date'], ['boolean', 'boolean'], ['json', 'opaque']] as const)(
    'offers operators that the API accepts for a %s column',
    (kind, column) => {
      expect(operatorsFor(kind).filter(name => !fitsColumn(name, column))).toEqual([])
    },
  )
})
