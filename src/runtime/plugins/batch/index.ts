/** Adds `POST /batch`: several writes in one commit, each with the rules of a request of its own. */
import type { Api } from '../../server/kit/call'
import type { ApiRequest } from '../../server/kit/request'
import type { ApiResponse } from '../../server/kit/respond'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../server/plugin/contract'
import { handleDirectly } from '../../server/plugin/direct-route'
import { describeBatch } from './describe'
import { resolveBatchOptions, type BatchOptions } from './options'

export type { BatchOptions } from './options'

/**
 * Adds `POST /batch`, which writes several records of any resources in one commit: all of them, or none. Each step has the permissions, the
 * rows, the fields and the hooks of the request that does the same.
 * @throws If an option is unknown or a value is invalid.
 * @example
 * autoApi: { plugins: [batch({ maxSteps: 20 })] }
 */
export const batch = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'batch' }, (options: BatchOptions = {}): AutoApiPlugin => {
  const { maxSteps } = resolveBatchOptions(options)
  let answer: (request: ApiRequest, api: Api) => Promise<ApiResponse>
  return {
    name: 'batch',
    // Loaded here, because nuxt.config loads this file without the server's modules.
    setup: () => import('../../server/kit/steps').then(({ answerSteps }) => {
      answer = (request, api) => answerSteps(request, api, { name: 'batch', maxSteps })
    }),
    routes: [{
      name: 'batch',
      method: 'POST',
      path: '/batch',
      parameters: [],
      dryRun: true,
      describe: describeBatch(maxSteps),
      // The steps decide which operations the request counts as, so the route opens its session itself.
      handler: handleDirectly((request, api) => answer(request, api)),
    }],
  }
})
