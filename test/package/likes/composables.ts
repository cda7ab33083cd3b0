/** The likes of a record in a page. */
import { toValue, type MaybeRefOrGetter } from 'vue'
import { toApiKey, useApiMutation, useApiQuery, useClient } from 'nuxt-auto-api/app'

export interface Likes {
  readonly likes: number
  readonly liked: boolean
}

/**
 * Reads how many users like a record, and likes it: `toggle()`.
 * @example
 * const { data, toggle } = useLikes('books', () => route.params.id)
 */
export function useLikes(resource: string, id: MaybeRefOrGetter<string | number>) {
  const client = useClient()
  const path = () => `${client.pathOf({ route: 'get', resource, id: toValue(id) })}/likes`
  const query = useApiQuery<Likes, Likes>(
    () => toApiKey(resource, 'endpoint', { id: toValue(id), reads: ['likes'] }),
    (_key, signal) => client.send('GET', path(), {}, undefined, signal),
  )
  const change = useApiMutation<Likes, 'PUT' | 'DELETE'>({
    send: method => client.send(method, path()),
    invalidates: () => ({ resources: new Set(['likes']) }),
  })
  return { ...query, toggle: () => change.mutate(query.data.value?.liked ? 'DELETE' : 'PUT') }
}
