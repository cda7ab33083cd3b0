/** The query string of a list or a record: text to bounded values. Names are still names here. */
import type { ApiRequest, Call } from '../context'
import { invalidQuery, quote } from '../error'
import { parseAggregates, type AggregateAsk } from './aggregate'
import { parseFilter, type FilterAsk } from './filter'
import { parseInclude, type IncludeTree } from './include'
import { parseKey } from './key'
import type { Key } from '../../schema/record-id'
import { assertWork } from './cost'
import { assertBounded, names, pageSize, scalar, toSort, trashMode, wholeNumber, type Query, type SortAsk } from './params'
import type { TrashMode } from '~/src/runtime/shared/trash'

/** What every read may ask for. */
export interface ReadAsk {
  readonly fields?: readonly string[]
  readonly include: IncludeTree
  readonly trash: TrashMode
}

export interface GetAsk extends ReadAsk {
  readonly key: Key
}

/** A page by number, or by the place where the last one ended (`''`: at the start). */
export type Place = { readonly mode: 'offset', readonly page: number } | { readonly mode: 'cursor', readonly cursor: string }

export interface ListAsk extends ReadAsk {
  readonly place: Place
  readonly limit: number
  readonly count: boolean
  readonly sort: readonly SortAsk[]
  readonly cursorFields: readonly SortAsk[]
  readonly filter: FilterAsk
  readonly aggregates: readonly AggregateAsk[]
}

export function parseGet(request: ApiRequest, { resource }: Call): GetAsk {
  const read = parseRead(request.query)
  assertWork(read)
  return { ...read, key: parseKey(request, resource) }
}

export function parseList({ query }: ApiRequest, { api: { config } }: Call): ListAsk {
  const ask: ListAsk = {
    ...parseRead(query),
    place: toPlace(query, config.pagination.default),
    limit: pageSize(query, config.pagination),
    count: toCount(query),
    sort: toSort(names(query, 'sort') ?? [], 'sort'),
    cursorFields: toSort(names(query, 'cursorFields') ?? [], 'cursorFields'),
    filter: parseFilter(query),
    aggregates: parseAggregates(query, config),
  }
  assertWork(ask)
  return ask
}

function parseRead(query: Query): ReadAsk {
  assertBounded(query)
  const fields = names(query, 'fields')
  return { ...fields?.length && { fields }, include: parseInclude(query), trash: trashMode(query) }
}

function toPlace(query: Query, mode: 'offset' | 'cursor'): Place {
  const cursor = scalar(query, 'cursor')
  const page = wholeNumber(query, 'page')
  if (cursor !== undefined && page !== undefined) throw invalidQuery('`page` and `cursor` exclude each other.')
  if (cursor !== undefined || (page === undefined && mode === 'cursor')) return { mode: 'cursor', cursor: cursor ?? '' }
  return { mode: 'offset', page: page ?? 1 }
}

function toCount(query: Query): boolean {
  const count = scalar(query, 'count')
  if (count !== undefined && count !== 'none' && count !== 'exact') throw invalidQuery(`\`count\` is none or exact, not ${quote(count)}.`, 'count')
  return count !== 'none'
}
