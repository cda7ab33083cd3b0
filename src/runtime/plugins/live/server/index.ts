/** The parts of live updates that run on the server. `nuxt.config` does not load this file. */
import type { Api, Session } from '../../../server/kit/call'
import { invalidQuery, quote } from '../../../server/kit/errors'
import { bindingsOf } from '../../../server/kit/event'
import { type ApiRequest, assertSameSite, nameList } from '../../../server/kit/request'
import type { WatchedRow } from '../../../server/kit/listen'
import { logError } from '../../../server/kit/process'
import type { ApiResponse } from '../../../server/kit/respond'
import type { Resource } from '../../../server/kit/rows'
import { runInSession } from '../../../server/kit/send'
import type { PluginServer } from '../../../server/plugin/server'
import type { LivePolicy } from '../options'
import { eventText } from './event-text'
import { createGroups } from './groups'
import { subscribe } from './scopes'
import type { Servers, ServersOptions } from './servers'
import { createStreams } from './streams'

export type Live = Awaited<ReturnType<typeof createLive>>

/** @throws When the channel needs a secret that the app has not set, or a storage that does not carry messages. */
export async function createLive(policy: LivePolicy, plugins: PluginServer) {
  const groups = createGroups(error => void logError(undefined, 'live: the rows of a commit could not be read again.', error))
  const onRows = (rows: readonly WatchedRow[]) => {
    const own = rows.filter(groups.watches)
    if (own.length > 0) groups.onRows(own)
  }
  const servers = await findServers(policy, plugins, { tables: groups.tables, onRows, onMissed: groups.missed })
  const streams = createStreams(policy, groups, servers?.follow)

  /** @throws `INVALID_QUERY` for names that are no resources, `CROSS_SITE` for a page of another site */
  async function answer(request: ApiRequest, api: Api): Promise<ApiResponse> {
    const token = streams.tokenOf(request)
    if (token !== undefined) return streams.answerCheck(token, request, api)
    // Other sites cannot read the response of a GET, but the cookies of the browser would open streams for them.
    assertSameSite({ method: 'POST', header: request.header }, api.config)
    return runInSession(request, api, async (session) => {
      const resources = findResources(request, api)
      const subscriptions = await subscribe(session, resources)
      return canStream(session) ? streams.open(session, request, resources, subscriptions) : poll(policy)
    })
  }

  return {
    answer,
    watch: servers
      ? {
          isActive: () => groups.isUsed() || servers.isActive(),
          watches: (table: Pick<WatchedRow, 'resource' | 'table'>) => groups.watches(table) || servers.watches(table.table),
          onRows(rows: readonly WatchedRow[]) {
            onRows(rows)
            servers.tell(rows)
          },
        }
      : { isActive: groups.isUsed, watches: groups.watches, onRows: groups.onRows },
    whenReady: () => servers?.whenReady(),
    end: streams.close,
    close: async () => servers?.close(),
  }
}

/** Loaded only for a channel: not every platform has its modules. */
async function findServers(
  { channel }: LivePolicy, plugins: PluginServer, options: Omit<ServersOptions, 'place'>,
): Promise<Servers | undefined> {
  if (channel === 'memory' || import.meta.prerender) return undefined
  const { createServers } = await import('./servers')
  return createServers(plugins, { place: channel, ...options })
}

/** A worker ends with its request, and a batch does not return the rows that it changes. */
const canStream = ({ engine, ctx: { event } }: Session) => engine.supportsFollowUp && bindingsOf(event as object) === undefined

async function poll({ pollInterval }: LivePolicy): Promise<ApiResponse> {
  const body = eventText('poll', { interval: pollInterval * 1000 })
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body }
}

function findResources({ query }: ApiRequest, { resources }: Api): readonly Resource[] {
  const names = nameList(query, 'resources') ?? []
  if (names.length === 0) throw invalidQuery('`resources` names the resources, such as `resources=posts,comments`.', 'resources')
  return [...new Set(names)].map((name) => {
    const resource = resources.get(name)
    if (!resource) throw invalidQuery(`\`resources\`: there is no resource ${quote(name)}.`, 'resources')
    if (resource.readOnly)
      throw invalidQuery(`\`resources\`: ${quote(name)} is a view. Nothing says which of its rows change.`, 'resources')
    return resource
  })
}
