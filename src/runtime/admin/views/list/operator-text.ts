/** The words for the operators of filters. */
import type { Filter } from '../../model/filters'
import { MESSAGES, type MessageKey } from '../../model/messages'
import type { DescribedField } from '../../model/schema'

/** Returns the text of an operator. Dates have words of their own. */
export function operatorKey({ operator, value }: Pick<Filter, 'operator' | 'value'>, { kind }: DescribedField): MessageKey {
  if (operator === '$null') return value === 'false' ? 'op.notNull' : 'op.$null'
  const ofDate = `op.date.${operator}`
  return kind === 'date' && Object.hasOwn(MESSAGES, ofDate) ? ofDate as MessageKey : `op.${operator}`
}
