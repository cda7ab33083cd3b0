/** Lets language models use the API with the rights of an API token: the resources as tools of the Model Context Protocol (MCP). */
import { isObject } from '../../shared/is-object'
import type { RouteDescription } from '../../shared/types/openapi'
import type { Api, AutoApiContext } from '../../server/kit/call'
import type { ApiRequest } from '../../server/kit/request'
import type { ApiResponse } from '../../server/kit/respond'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../server/plugin/contract'
import { objectOf, text } from '../../server/plugin/description'
import { handleDirectly } from '../../server/plugin/direct-route'
import { assertResources, resolveMcpOptions, type McpOptions } from './options'

export type { McpOptions } from './options'

const message = objectOf({ jsonrpc: { const: '2.0' }, id: { type: ['string', 'number'] } }, ['jsonrpc'])

const DESCRIPTION: RouteDescription = {
  summary: 'Tools for language models (Model Context Protocol)',
  body: { allOf: [message, objectOf({ method: text, params: { type: 'object' } }, [])] },
  responses: {
    200: { schema: { allOf: [message, objectOf({ result: { type: 'object' }, error: { type: 'object' } }, [])] } },
    202: { description: 'The message has no result.' },
  },
}

/**
 * Adds `POST /mcp`: a server of the Model Context Protocol with at most nine tools, whatever the number of resources. Each call of a tool
 * is a request of its caller, with the rules of the generated route that does the same.
 * @throws If an option is unknown or a value is invalid. When the server starts, also if a resource does not exist.
 * @example
 * autoApi: {
 *   plugins: [apiTokens({ findUser: createModuleImport('~~/server/tokens', 'findUser') }), mcp({ write: true })],
 * }
 */
export const mcp = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'mcp' }, (options: McpOptions = {}): AutoApiPlugin => {
  const resolved = resolveMcpOptions(options)
  let handle: (request: ApiRequest, api: Api) => Promise<ApiResponse>
  const events = new WeakSet<object>()
  return {
    name: 'mcp',
    // Loaded here, because nuxt.config loads this file without the server's modules.
    setup(server) {
      assertResources(resolved, [...server.resources.keys()])
      return import('./server/index').then(({ createMcpServer }) => void (handle = createMcpServer(resolved, server)))
    },
    // The audit log records how a change was made.
    extendContext(ctx: AutoApiContext) {
      if (isObject(ctx.event) && events.has(ctx.event)) Object.assign(ctx, { via: 'mcp' })
    },
    routes: [{
      name: 'mcp',
      method: 'POST',
      path: resolved.path,
      parameters: [],
      dryRun: true,
      describe: DESCRIPTION,
      handler: handleDirectly((request, api) => {
        if (isObject(request.event)) events.add(request.event)
        return handle(request, api)
      }),
    }],
  }
})
