/** The entity tags of records. Each record object of a response keeps its tag, so a tag always belongs to the data that a page shows. */
import { replaceEqualDeep, type QueryClient } from '@tanstack/vue-query'
import { toRaw } from 'vue'
import { AutoApiError } from './error'
import { isApiKey, toIdentity } from './keys'

const tags = new WeakMap<object, string>()

/**
 * Returns the tag of a record that `useAutoApiGet` or a write returned. Keep it when a form opens, and pass it as `ifMatch`, so that a
 * later refetch does not change what the form compares. It is `undefined` for records of lists and for copies of a record.
 * @example
 * const tag = autoApiTag(post.value)
 */
export function autoApiTag(record: unknown): string | undefined {
  return typeof record === 'object' && record !== null ? tags.get(toRaw(record)) : undefined
}

/** A proxy that compresses responses weakens their tags. The API compares only strong tags. */
export function setTag(record: unknown, tag: string | null | undefined): void {
  if (tag && typeof record === 'object' && record !== null) tags.set(toRaw(record), tag.replace(/^W\//, ''))
}

type Share = boolean | ((old: unknown, data: unknown) => unknown)

/** Shares the unchanged parts of a record with its previous version, as TanStack Query does, and keeps the tag of the new version. */
export function shareWithTag(share: Share = true): (old: unknown, data: unknown) => unknown {
  return (old, data) => {
    const shared = typeof share === 'function' ? share(old, data) : share ? replaceEqualDeep(old, data) : data
    setTag(shared, autoApiTag(data))
    return shared
  }
}

/**
 * Returns the tag of a record in the cache. If several components show the record, the oldest version decides, so that nothing is
 * overwritten that one of them does not show.
 * @throws AutoApiError With status 428 and without a request, if no `useAutoApiGet` holds the record.
 */
export function requireTag(client: QueryClient, resource: string, id: string | number): string {
  const identity = toIdentity(resource, id)
  const held = client.getQueryCache().getAll().filter(({ queryKey, state }) =>
    isApiKey(queryKey) && queryKey[1] === resource && queryKey[2] === 'get' && queryKey[3].id === identity && autoApiTag(state.data))
  const shown = held.filter(query => query.isActive())
  const byTime = (shown.length > 0 ? shown : held).sort((a, b) => a.state.dataUpdatedAt - b.state.dataUpdatedAt)
  const tag = autoApiTag((shown.length > 0 ? byTime[0] : byTime.at(-1))?.state.data)
  if (tag === undefined) throw missingTag(`No \`useAutoApiGet\` holds \`${resource}\` ${id}, so its tag is not known.`)
  return tag
}

export function missingTag(message: string): AutoApiError {
  return new AutoApiError({ status: 428, code: 'PRECONDITION_REQUIRED', message, issues: [], fields: [], errors: [] })
}
