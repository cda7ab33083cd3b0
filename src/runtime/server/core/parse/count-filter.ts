/** Parses a condition on the number of related records: `{ "$count": { "$gte": 3 } }`. */
import { isObject } from '../../../shared/is-object'
import { COMPARISONS, isComparison } from '../../../shared/operators'
import { COUNT_OPERATOR, type CountComparison } from '../../../shared/relation-counts'
import { invalidOperator, invalidValue, unknownOperator } from '../error'

/**
 * @param object contains `$count`
 * @param parameter
 * @param text whether the values are text of a query string
 * @param at the place of the object
 * @throws `INVALID_OPERATOR` and `INVALID_VALUE`
 */
export function readCount(object: Record<string, unknown>, parameter: string, text: boolean, at: string): readonly CountComparison[] {
  if (Object.keys(object).length > 1) throw misplacedCount(parameter, at)
  const value = object[COUNT_OPERATOR]
  const path = `${at}.${COUNT_OPERATOR}`
  const operators = Object.entries(isObject(value) ? value : { $eq: value })
  if (operators.length === 0) throw invalidValue(parameter, `${COUNT_OPERATOR} has no operator.`, path)
  return operators.map(([operator, operand]) => {
    if (!isComparison(operator)) throw unknownOperator(parameter, operator, COMPARISONS, path)
    const number = text && typeof operand === 'string' && /^\d{1,16}$/.test(operand) ? Number(operand) : operand
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0)
      throw invalidValue(parameter, `${COUNT_OPERATOR} takes whole numbers of at least 0.`, path)
    return { operator, value: number }
  })
}

/** `$count` beside other keys, or not in the object of a relation. */
export const misplacedCount = (parameter: string, at: string): Error =>
  invalidOperator(parameter, COUNT_OPERATOR, at, `stands alone in the object of a relation. ${HINT}`)

const HINT = 'Combine whole relations, as in `{"$or":[{"comments":{"$count":1}},{"comments":{"text":"a"}}]}`'
