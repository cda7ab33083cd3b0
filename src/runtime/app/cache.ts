/** Updates cached responses after a write: invalidates them, or changes records in them. */
import type { Query, QueryClient } from '@tanstack/vue-query'
import { nextTick } from 'vue'
import { idOf, isApiKey, isMissing, resourcesOf, rootOf, targetOf, toIdentity, type ApiKey, type IncludeTree } from './keys'
import { autoApiTag, setTag } from './tags'

/** Describes the changes of a write. They decide which cached responses are stale. */
export interface Invalidation {
  readonly resources: ReadonlySet<string>
  /** If true, the write changed only links between the resources: only responses with rows of every resource are stale. */
  readonly links?: boolean
  /** The removed records. Their own responses are not refetched, because the server would return 404. */
  readonly removed?: { readonly resource: string, readonly ids: readonly (string | number)[] }
}

/** Invalidates exactly the responses with rows of a written resource: lists, records, aggregates, includes, relations. */
export async function invalidate(client: QueryClient, { resources, links = false, removed }: Invalidation): Promise<void> {
  const removedIds = new Set(removed?.ids.map(id => toIdentity(removed.resource, id)))
  const isRemoved = ([, resource, , { id }]: ApiKey) =>
    resource === removed?.resource && !isMissing(id) && removedIds.has(toIdentity(resource, id))
  const isStale = (key: ApiKey) => {
    const ofKey = resourcesOf(key)
    return (
      ofKey.has('*')
      || (links ? [...resources].every(resource => ofKey.has(resource)) : [...resources].some(resource => ofKey.has(resource)))
    )
  }
  const matching = (test: (key: ApiKey) => boolean) => ({
    predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => isApiKey(queryKey) && isStale(queryKey) && test(queryKey),
  })
  await Promise.all([
    client.invalidateQueries(matching(key => !isRemoved(key) && !isPermissions(key))),
    client.invalidateQueries({ ...matching(key => isRemoved(key) || isPermissions(key)), refetchType: 'none' }),
  ])
  await refetchPermissions(client)
}

const isPermissions = ([, , kind]: ApiKey) => kind === 'permissions'

/**
 * Refetches the permissions on records after the lists, because a list with other records requests those of the new ones itself. A write
 * changes no permissions on a resource: the next component that needs them requests them.
 */
async function refetchPermissions(client: QueryClient): Promise<void> {
  const isStale = ({ queryKey, state }: Query) =>
    isApiKey(queryKey) && isPermissions(queryKey) && queryKey[3].query !== undefined && state.isInvalidated && state.fetchStatus === 'idle'
  const filter = { type: 'active', predicate: isStale } as const
  if (client.getQueryCache().findAll(filter).length === 0) return
  // TanStack Query passes new data to components in a task, and these request the permissions on new records before the next render.
  await new Promise(resolve => setTimeout(resolve))
  await nextTick()
  await client.refetchQueries(filter)
}

export type CachedRecord = Readonly<Record<string, unknown>>
type Change = (record: CachedRecord) => CachedRecord

/** Changes a record in every cached response. */
export function changeRecord(
  client: QueryClient,
  resource: string,
  id: string | number,
  change: (record: CachedRecord, key: ApiKey) => CachedRecord,
): void {
  for (const query of client.getQueryCache().getAll()) {
    const { queryKey, state } = query
    if (!isApiKey(queryKey) || state.data === undefined) continue
    const data = changeInResponse(queryKey, state.data, record => change(record, queryKey), resource, toIdentity(resource, id))
    // A local change does not make the response newer.
    if (data === state.data) continue
    setTag(data, autoApiTag(state.data))
    client.setQueryData(queryKey, data, { updatedAt: state.dataUpdatedAt })
  }
}

interface Page { readonly data: readonly CachedRecord[] }

function changeInResponse(key: ApiKey, data: unknown, change: Change, resource: string, id: string): unknown {
  const [, , kind, { query }] = key
  const changeRoot = (record: CachedRecord) => changeInRecord(record, rootOf(key), query?.include, change, resource, id)
  const changePage = (page: Page): Page => withValue(page, 'data', mapList(page.data, changeRoot))
  if (kind === 'get') return changeRoot(data as CachedRecord)
  if (kind === 'list' || kind === 'related') return changePage(data as Page)
  if (kind !== 'infinite') return data
  const { pages } = data as { pages: readonly Page[] }
  return withValue(data as { pages: readonly Page[] }, 'pages', mapList(pages, changePage))
}

/** Changes a record and its included records. */
function changeInRecord(
  record: CachedRecord,
  root: string,
  include: IncludeTree = {},
  change: Change,
  resource: string,
  id: string,
): CachedRecord {
  let changed = root === resource && idOf(resource, record) === id ? change(record) : record
  for (const [relation, options] of Object.entries(include)) {
    const value = changed[relation]
    if (!options || typeof value !== 'object' || value === null) continue
    const changeIncluded = (child: CachedRecord) =>
      changeInRecord(child, targetOf(root, relation), options === true ? {} : options.include, change, resource, id)
    changed = withValue(
      changed,
      relation,
      Array.isArray(value) ? mapList(value as CachedRecord[], changeIncluded) : changeIncluded(value as CachedRecord),
    )
  }
  return changed
}

/** Maps a list. Returns the same list when no item changed, so that components do not render again. */
function mapList<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change)
  return changed.some((item, index) => item !== list[index]) ? changed : list
}

function withValue<T extends object>(object: T, key: keyof T, value: unknown): T {
  return object[key] === value ? object : { ...object, [key]: value }
}
