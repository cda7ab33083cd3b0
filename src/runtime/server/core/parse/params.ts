/** Reads query parameters by the kind of their value: numbers, flags, lists, JSON. */
import { LIMITS } from '../../../shared/limits'
import type { Operation } from '../../../shared/operations'
import type { TrashMode } from '../../../shared/query'
import type { ApiRequest } from '../request/api-request'
import { invalidQuery, limitExceeded, quote } from '../error'

export type Query = ApiRequest['query']

/** Returns the only value, or `undefined` if the parameter is absent. @throws When the parameter is repeated. */
export function singleValue(query: Query, parameter: string): string | undefined {
  const value = query[parameter]
  if (Array.isArray(value)) throw invalidQuery(`\`${parameter}\` is given more than once.`, parameter)
  return value
}

/** Returns a whole number of at least 1, or `undefined` if the parameter is absent. */
export function wholeNumber(query: Query, parameter: string): number | undefined {
  const text = singleValue(query, parameter)
  return text === undefined ? undefined : toWholeNumber(text, parameter)
}

export function toWholeNumber(text: string, parameter: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalidQuery(`\`${parameter}\` is not a whole number of at least 1: ${quote(text)}.`, parameter)
  return Number(text)
}

/** Parses `true` or `false`. An absent parameter means false. */
export function flag(query: Query, parameter: string): boolean {
  const text = singleValue(query, parameter)
  if (text !== undefined && text !== 'true' && text !== 'false')
    throw invalidQuery(`\`${parameter}\` is true or false, not ${quote(text)}.`, parameter)
  return text === 'true'
}

/** Parses a comma-separated list, a repeated parameter, or both. Returns `undefined` if the parameter is absent. */
export function nameList(query: Query, parameter: string): readonly string[] | undefined {
  const value = query[parameter]
  if (value === undefined) return undefined
  return [value].flat().flatMap(text => text.split(',')).map(text => text.trim()).filter(text => text !== '')
}

/** Returns each name once, in the order of the list. */
export const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)]

/** @throws For text that is not JSON, or JSON that is nested too deeply. */
export function toJson(text: string, parameter: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  }
  catch {
    throw invalidQuery(`\`${parameter}\` is not valid JSON.`, parameter)
  }
  if (isDeeper(value, LIMITS.jsonDepth))
    throw limitExceeded(`\`${parameter}\` is nested deeper than ${LIMITS.jsonDepth} levels.`, parameter)
  return value
}

/** Whether a value has more levels than `levels`. It does not visit deeper levels, so a hostile value cannot overflow the stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(child => isDeeper(child, levels - 1))
}

export interface SortField {
  readonly name: string
  readonly descending: boolean
}

/** Parses `-createdAt` (descending) or `title` (ascending). */
export function toSort(texts: readonly string[], parameter: string): readonly SortField[] {
  if (texts.length > LIMITS.sort) throw limitExceeded(`\`${parameter}\` names more than ${LIMITS.sort} fields.`, parameter)
  return texts.map(text => text.startsWith('-') ? { name: text.slice(1), descending: true } : { name: text, descending: false })
}

const COUNTS: Readonly<Record<string, { readonly count: boolean, readonly countLimit?: number }>> = {
  none: { count: false }, exact: { count: true }, estimated: { count: true, countLimit: LIMITS.counted },
}

/** How to compute the total of a list. */
export function toCount(query: Query) {
  const count = singleValue(query, 'count') ?? 'exact'
  if (!Object.hasOwn(COUNTS, count)) throw invalidQuery(`\`count\` is none, exact or estimated, not ${quote(count)}.`, 'count')
  return COUNTS[count]!
}

/** Whether a read returns active rows, rows in the trash, or both. */
export function trashMode(query: Query): TrashMode {
  const [all, only] = [flag(query, 'includeDeleted'), flag(query, 'onlyDeleted')]
  if (all && only) throw invalidQuery('`includeDeleted` and `onlyDeleted` exclude each other.')
  return only ? 'trashed' : all ? 'both' : 'active'
}

/** Returns the operations for which a read needs permission. Authorization needs them before the query is parsed. */
export function readOperations({ query }: Pick<ApiRequest, 'query'>): readonly ['read', ...Operation[]] {
  const aggregates = query.aggregate !== undefined || query.groupBy !== undefined
  const trash = isTrue(query.includeDeleted) || isTrue(query.onlyDeleted)
  if (!aggregates && !trash) return ONLY_READ
  return ['read', ...aggregates ? ['aggregate' as const] : [], ...trash ? ['viewDeleted' as const] : []]
}

/** Most reads have no other operation. */
const ONLY_READ = Object.freeze(['read'] as const)

const isTrue = (value: string | readonly string[] | undefined) =>
  value !== undefined && (typeof value === 'string' ? value === 'true' : value.includes('true'))

/** Does the same as {@link readOperations}, for a route that only aggregates. */
export function aggregateOperations(request: ApiRequest): readonly ['aggregate', ...Operation[]] {
  return ['aggregate', ...readOperations(request).filter(operation => operation === 'viewDeleted')]
}

/** @throws `LIMIT_EXCEEDED` for a query string that is too long. */
export function assertBounded(query: Query): void {
  let length = 0
  for (const key in query) {
    const value = query[key]!
    length += key.length + (typeof value === 'string' ? value.length : value.reduce((sum, text) => sum + text.length, 0))
  }
  if (length > LIMITS.queryLength) throw limitExceeded(`The query is longer than ${LIMITS.queryLength} characters.`)
}

/** A limit above the maximum becomes the maximum. */
export function pageSize(query: Query, { defaultLimit, maxLimit }: { defaultLimit: number, maxLimit: number }): number {
  return Math.min(wholeNumber(query, 'limit') ?? defaultLimit, maxLimit)
}

/** Returns the number of entries before a page. The result is at most the largest safe integer, because engines refuse larger numbers. */
export function toOffset(page: number, limit: number): number {
  return Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)
}
