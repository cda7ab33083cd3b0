/** Server util that lets a caller read what a handler has written, if the app has read replicas. */
import { markWrite } from '../core/request/replica-choice'
import { requestOf } from '../http/handle'
import type { AutoApiPlatform } from '../registration'
import { useApi } from '../runtime'

type Event = AutoApiPlatform extends { event: infer E } ? E : never

/**
 * Adds the marker of a write to the response, as the routes of the API do: the next reads of the client use no replica that lacks what has
 * been committed so far. Call it after the commit, in handlers of your own; `createEndpoint` does it for every method but GET and HEAD.
 * Does nothing if the database has no replicas.
 * @example
 * export default defineEventHandler(async (event) => {
 *   await atomicWrites({ event }, [db => db.insert(votes).values({ postId: 1 })])
 *   await setConsistencyToken(event)
 * })
 */
export async function setConsistencyToken(event: Event): Promise<void> {
  await markWrite(useApi(event), requestOf(event), true)
}
