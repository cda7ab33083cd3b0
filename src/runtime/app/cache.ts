/** What a write does to cached answers: those it concerns are asked for again, or changed at once. */
import type { QueryClient } from '@tanstack/vue-query'
import { idOf, isApiKey, isMissing, resourcesOf, rootOf, targetOf, toIdentity, type ApiKey, type IncludeTree } from './keys'

/** What was written. */
export interface Written {
  readonly resources: ReadonlySet<string>
  /** Links between resources: only what holds both sides has changed. */
  readonly links?: boolean
  /** Records that are gone: asking for them again would only bring a 404. */
  readonly removed?: { readonly resource: string, readonly ids: readonly (string | number)[] }
}

/** Exactly the answers that speak of what was written: lists, records, aggregates, parents that included it, relations. */
export async function invalidate(client: QueryClient, { resources, links = false, removed: gone }: Written): Promise<void> {
  const ids = new Set(gone?.ids.map(id => toIdentity(gone.resource, id)))
  const isGone = ([, resource, , { id }]: ApiKey) => resource === gone?.resource && !isMissing(id) && ids.has(toIdentity(resource, id))
  const concerns = (key: ApiKey) => {
    const held = resourcesOf(key)
    return (
      held.has('*') || (links ? [...resources].every(resource => held.has(resource)) : [...resources].some(resource => held.has(resource)))
    )
  }
  const matching = (test: (key: ApiKey) => boolean) => ({
    predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => isApiKey(queryKey) && concerns(queryKey) && test(queryKey),
  })
  await Promise.all([
    client.invalidateQueries(matching(key => !isGone(key))),
    client.invalidateQueries({ ...matching(isGone), refetchType: 'none' }),
  ])
}

export type CachedRecord = Readonly<Record<string, unknown>>
type Change = (record: CachedRecord) => CachedRecord

/** Puts a changed record in the place of the cached one, wherever it is cached. */
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
    // An answer that was changed here is as old as it was.
    if (data !== state.data) client.setQueryData(queryKey, data, { updatedAt: state.dataUpdatedAt })
  }
}

interface Page { readonly data: readonly CachedRecord[] }

function changeInResponse(key: ApiKey, data: unknown, change: Change, resource: string, id: string): unknown {
  const [, , kind, { query }] = key
  const inRecord = (record: CachedRecord) => changeInRecord(record, rootOf(key), query?.include, change, resource, id)
  const inPage = (page: Page): Page => withValue(page, 'data', mapList(page.data, inRecord))
  if (kind === 'get') return inRecord(data as CachedRecord)
  if (kind === 'list' || kind === 'related') return inPage(data as Page)
  if (kind !== 'infinite') return data
  const { pages } = data as { pages: readonly Page[] }
  return withValue(data as { pages: readonly Page[] }, 'pages', mapList(pages, inPage))
}

/** A record, and what was included in it. */
function changeInRecord(record: CachedRecord, root: string, include: IncludeTree = {}, change: Change, resource: string, id: string): CachedRecord {
  let changed = root === resource && idOf(resource, record) === id ? change(record) : record
  for (const [relation, options] of Object.entries(include)) {
    const value = changed[relation]
    if (!options || typeof value !== 'object' || value === null) continue
    const deeper = (child: CachedRecord) =>
      changeInRecord(child, targetOf(root, relation), options === true ? {} : options.include, change, resource, id)
    changed = withValue(changed, relation, Array.isArray(value) ? mapList(value as CachedRecord[], deeper) : deeper(value as CachedRecord))
  }
  return changed
}

/** The same list where nothing changed: what shows it is not drawn again. */
function mapList<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change)
  return changed.some((item, index) => item !== list[index]) ? changed : list
}

function withValue<T extends object>(object: T, key: keyof T, value: unknown): T {
  return object[key] === value ? object : { ...object, [key]: value }
}
