/** Adds the tags of records to writes, and reads the current record after a write that failed because of its tag. */
import type { QueryClient } from '@tanstack/vue-query'
import { toValue, type MaybeRefOrGetter } from 'vue'
import type { Action } from './actions'
import type { ApiCall, Client } from './client'
import { AutoApiError, toProblem } from './error'
import { missingTag, requireTag } from './tags'

/** The tag of one record: `true` for that of the record in the cache, or the tag itself. `false` for a write without a tag. */
type OneTag = MaybeRefOrGetter<boolean | string | undefined>

/** The option of each action that writes existing records. */
export type IfMatchOptions<A extends Action> = A extends 'create' | 'bulkCreate' ? unknown : {
  /**
   * Writes only if the record is still the one that the page has read. `true` sends the tag of the record that `useAutoApiGet` holds. For a
   * single record, it can also be a tag, such as the one that `autoApiTag` returned when a form was opened. If the record has changed, the
   * error has status 412, and `error.current` is the current record.
   * @default false
   */
  readonly ifMatch?: A extends 'bulkUpdate' | 'bulkDelete' ? boolean : OneTag
}

/** One entry of a batch: an id, or an object with the id. */
type Entry = string | number | { readonly id: string | number, readonly ifMatch?: string }

/** @throws AutoApiError With status 428 and without a request, if a tag is not known. */
export function withTags(call: ApiCall, option: OneTag, client: QueryClient): ApiCall {
  const ifMatch = toValue(option)
  if (ifMatch === false) return call
  const resource = call.resource!
  const heldTag = (id: string | number) => requireTag(client, resource, id)
  if (call.id !== undefined) {
    const tag = ifMatch === true ? heldTag(call.id) : ifMatch
    if (typeof tag !== 'string') throw missingTag('The option `ifMatch` has no tag.')
    return { ...call, ifMatch: tag }
  }
  const { items, ids } = call.body as { readonly items?: readonly Entry[], readonly ids?: readonly Entry[] }
  if (ifMatch !== true || !(items ?? ids)) throw missingTag('A write of several records needs the tag of each of them.')
  const tagged = (items ?? ids)!.map((entry) => {
    const item = typeof entry === 'object' ? entry : { id: entry }
    return { ...item, ifMatch: item.ifMatch ?? heldTag(item.id) }
  })
  return { ...call, body: items ? { items: tagged } : { ids: tagged } }
}

/** Adds the current record to the error of a write whose tag did not match. */
export async function withCurrent(error: unknown, { resource, id, route }: ApiCall, client: Client): Promise<unknown> {
  if (!(error instanceof AutoApiError) || error.status !== 412 || id === undefined) return error
  const read = (query: object) => client.call({ route: 'get', resource, id, query }).catch(() => undefined)
  // A record that is restored or purged can be in the trash.
  const current = await read({}) ?? (route === 'update' ? undefined : await read({ includeDeleted: true }))
  return current === undefined ? error : new AutoApiError({ ...toProblem(error), current }, { cause: error.cause })
}
