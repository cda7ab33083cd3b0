/** Parses the query string of a list or a record. It does not resolve the names of fields and relations. */
import type { AutoApiConfig } from '../../../shared/config'
import type { ApiRequest } from '../request/api-request'
import type { Call } from '../request/session'
import { invalidQuery } from '../error'
import { parseAggregates, type AggregateQuery } from './aggregate'
import { parseFilter, type Filter } from './filter'
import { parseInclude, type IncludeTree } from './include'
import { parseKey } from './key'
import type { Key } from '../../schema/record-id'
import { assertCost } from './cost'
import {
  assertBounded,
  distinct,
  nameList,
  pageSize,
  singleValue,
  toCount,
  toSort,
  trashMode,
  wholeNumber,
  type Query,
  type SortField,
} from './params'
import type { TrashMode } from '../../../shared/query'

/** The parameters of every read. */
export interface ReadQuery {
  readonly fields?: readonly string[]
  readonly include: IncludeTree
  /** The relations whose records are counted for each record. */
  readonly counts: readonly string[]
  readonly trash: TrashMode
}

export interface GetQuery extends ReadQuery {
  readonly key: Key
}

/** A page by number, or the page after a cursor. An empty cursor means the first page. */
export type Position = { readonly mode: 'offset', readonly page: number } | { readonly mode: 'cursor', readonly cursor: string }

export interface ListQuery extends ReadQuery {
  readonly position: Position
  readonly limit: number
  readonly count: boolean
  /** The exact count ends at this number of rows. Then the total is a lower bound, or the estimate of the database. */
  readonly countLimit?: number
  readonly sort: readonly SortField[]
  readonly cursorFields: readonly SortField[]
  readonly filter: Filter
  readonly aggregates: readonly AggregateQuery[]
}

export function parseGet(request: Pick<ApiRequest, 'query' | 'params'>, { resource, api: { config } }: Call): GetQuery {
  const read = parseRead(request.query, config)
  assertCost(read)
  return { ...read, key: parseKey(request, resource) }
}

export function parseList({ query }: Pick<ApiRequest, 'query'>, { api: { config } }: Call): ListQuery {
  const list: ListQuery = {
    ...parseRead(query, config),
    position: toPosition(query, config.pagination.default),
    limit: pageSize(query, config.pagination),
    ...toCount(query),
    sort: toSort(nameList(query, 'sort') ?? [], 'sort'),
    cursorFields: toSort(nameList(query, 'cursorFields') ?? [], 'cursorFields'),
    filter: parseFilter(query, config),
    aggregates: parseAggregates(query, config),
  }
  assertCost(list)
  return list
}

/** Parses `include` of a write, as that of a get. It is `undefined` if the request includes nothing. */
export function parseIncluded({ query }: Pick<ApiRequest, 'query'>, { api: { config } }: Call): IncludeTree | undefined {
  if (query.include === undefined) return undefined
  assertBounded(query)
  const include = parseInclude(query, config)
  assertCost({ include })
  return include.size === 0 ? undefined : include
}

function parseRead(query: Query, config: AutoApiConfig): ReadQuery {
  assertBounded(query)
  const fields = nameList(query, 'fields')
  return { ...fields?.length && { fields }, include: parseInclude(query, config), counts: parseCounts(query), trash: trashMode(query) }
}

const NO_COUNTS: readonly string[] = Object.freeze([])

const parseCounts = (query: Query) => query.counts === undefined ? NO_COUNTS : distinct(nameList(query, 'counts')!)

function toPosition(query: Query, mode: 'offset' | 'cursor'): Position {
  const cursor = singleValue(query, 'cursor')
  const page = wholeNumber(query, 'page')
  if (cursor !== undefined && page !== undefined) throw invalidQuery('`page` and `cursor` exclude each other.')
  if (cursor !== undefined || (page === undefined && mode === 'cursor')) return { mode: 'cursor', cursor: cursor ?? '' }
  return { mode: 'offset', page: page ?? 1 }
}
