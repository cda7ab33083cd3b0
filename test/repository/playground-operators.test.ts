/** The explorer of the playground has a label for every operator. The API describes which operators a field has. */
import { expect, it } from 'vitest'
import { OPERATOR_LABELS } from '../../playground/app/explorer/operators'
import { OPERATORS } from '../../src/runtime/shared/operators'

it('the explorer of the playground has a label for every operator', () => {
  expect(Object.keys(OPERATOR_LABELS).toSorted()).toEqual(Object.keys(OPERATORS).toSorted())
})
