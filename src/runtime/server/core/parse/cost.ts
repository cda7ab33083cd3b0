/** Limits the work of one request. It counts the conditions and `$like` patterns of the query, its includes and its relation filters. */
import { LIMITS } from '../../../shared/limits'
import { limitExceeded } from '../error'
import { isSearch, OPERATORS } from '../../../shared/operators'
import { conditionsOf, countConditions, type Filter } from './filter'
import type { IncludeTree } from './include'

/** The number of conditions, `$like` patterns and pattern characters that the request can still use. */
interface Budget {
  conditions: number
  likes: number
  characters: number
}

interface CountedQuery {
  readonly filter?: Filter
  readonly include?: IncludeTree
  readonly having?: readonly unknown[]
}

/** @throws `LIMIT_EXCEEDED` with a message that names the limit. */
export function assertCost({ filter, include, having = [] }: CountedQuery): void {
  const budget: Budget = { conditions: LIMITS.conditions, likes: LIMITS.likes, characters: LIMITS.likeTotalLength }
  if (having.length > 0) spendConditions(budget, having.length, 'having')
  if (filter) spendFilter(budget, filter, 'filter')
  if (include) spendIncludes(budget, include)
}

function spendIncludes(budget: Budget, tree: IncludeTree): void {
  for (const { filter, include } of tree.values()) {
    if (filter) spendFilter(budget, filter, 'include.filter')
    spendIncludes(budget, include)
  }
}

function spendFilter(budget: Budget, filter: Filter, parameter: string): void {
  spendConditions(budget, countConditions(filter), parameter)
  for (const { operator, value } of conditionsOf(filter)) {
    if (!isSearch(operator)) continue
    spendText(budget, value as string, parameter)
    if (OPERATORS[operator].value === 'pattern') assertWildcards(value as string, parameter)
  }
}

function spendConditions(budget: Budget, count: number, parameter: string): void {
  budget.conditions -= count
  if (budget.conditions < 0)
    throw limitExceeded(`The query, with its includes, holds more than ${LIMITS.conditions} conditions.`, parameter)
}

function spendText(budget: Budget, pattern: string, parameter: string): void {
  budget.likes--
  if (budget.likes < 0) throw limitExceeded(`The query, with its includes, holds more than ${LIMITS.likes} $like conditions.`, parameter)
  budget.characters -= pattern.length
  if (pattern.length > LIMITS.likeLength)
    throw limitExceeded(`\`${parameter}\`: a $like pattern has at most ${LIMITS.likeLength} characters.`, parameter)
  if (budget.characters < 0)
    throw limitExceeded(
      `The $like patterns of the query, with its includes, have more than ${LIMITS.likeTotalLength} characters together.`,
      parameter,
    )
}

/** Captures wildcards. Escaped characters (`\%`, `\_`) are not wildcards. */
const WILDCARDS = /\\[%_\\]|([%_])/g

function assertWildcards(pattern: string, parameter: string): void {
  const wildcards = [...pattern.matchAll(WILDCARDS)].filter(([, wildcard]) => wildcard !== undefined).length
  if (wildcards > LIMITS.wildcards)
    throw limitExceeded(`\`${parameter}\`: a $like pattern has at most ${LIMITS.wildcards} wildcards.`, parameter)
}
