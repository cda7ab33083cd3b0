/** Adds `GET /_live`: signals about the records that change, for callers who can read them. */
import type { Api } from '../../server/kit/call'
import type { ApiRequest } from '../../server/kit/request'
import type { ApiResponse } from '../../server/kit/respond'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../server/plugin/contract'
import { handleDirectly } from '../../server/plugin/direct-route'
import type { Operation } from '../../shared/operations'
import { DESCRIBE_LIVE } from './describe'
import { resolveLiveOptions, type LiveOptions } from './options'
import type { Live } from './server/index'

export type { LiveOptions } from './options'

const isWrite = (operations: readonly Operation[]) => operations.some(operation => operation !== 'read' && operation !== 'aggregate')

/**
 * Adds `GET /_live`, a stream of server-sent events. It names each record that the caller can read and that has changed, and each record
 * that the caller could read and no longer can. It contains no values. Queries with `live: true` follow it.
 * @throws If an option is unknown or a value is invalid.
 * @example
 * autoApi: { plugins: [live()] }
 */
export const live = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'live' }, (options: LiveOptions = {}): AutoApiPlugin => {
  const policy = resolveLiveOptions(options)
  let server: Live | undefined
  return {
    name: 'live',
    // Loaded here, because nuxt.config loads this file without the server's modules.
    async setup(plugins) {
      const { createLive } = await import('./server/index')
      server = await createLive(policy, plugins)
    },
    ...policy.channel !== 'memory' && { onRequest: ({ operations }) => isWrite(operations) ? server?.whenReady() : undefined },
    watch: {
      isActive: () => server?.watch.isActive() ?? false,
      watches: table => server!.watch.watches(table),
      onRows: rows => server!.watch.onRows(rows),
    },
    onStop: { begin: () => server?.end(), end: () => server?.close() },
    routes: [{
      name: 'live',
      method: 'GET',
      path: '/_live',
      parameters: ['resources'],
      describe: DESCRIBE_LIVE,
      // The stream goes on after the response has begun, and resolves its caller again.
      handler: handleDirectly((request: ApiRequest, api: Api): Promise<ApiResponse> => server!.answer(request, api)),
    }],
  }
})
