/** Describes the API as an OpenAPI 3.1 document: for each caller, what this caller can use. */
import { defineAutoApiPlugin, type PluginRoute } from '../../server/plugin/contract'
import { imported } from '../../server/plugin/options'
import { assertOpenApiOptions, type OpenApiOptions } from './options'
import type { OpenApi } from './server/index'

/**
 * Adds `GET /_openapi.json` and, with `reference`, the page `GET /_reference`. In production, only with `access`.
 * @throws If an option is unknown or a value is invalid.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   autoApi: { plugins: [openApi({ access: true, info: { title: 'Newsroom', version: '2.1.0' } })] },
 * })
 */
export const openApi = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'openApi' }, (options: OpenApiOptions = {}) => {
  assertOpenApiOptions(options)
  const { access, reference = false } = options
  let server: OpenApi
  const document: PluginRoute = {
    name: 'openapi',
    method: 'GET',
    path: '/_openapi.json',
    parameters: [],
    handler: (ctx, request) => server.sendDocument(ctx, request),
    describe: {
      summary: 'OpenAPI document for this caller',
      responses: { 200: { schema: { type: 'object' } }, 304: { description: 'The client has this response.' } },
    },
  }
  const page: PluginRoute = {
    name: 'reference',
    method: 'GET',
    path: '/_reference',
    parameters: [],
    handler: (ctx, request) => server.sendReference(ctx, request),
    describe: { summary: 'Reference page for this caller', responses: { 200: { types: ['text/html'] } } },
  }
  // The build always knows the paths. A server in production has them only for an app that says who can read them.
  const isOff = access === undefined && import.meta.server === true && import.meta.dev !== true
  return {
    name: 'open-api',
    // Loaded here, because nuxt.config loads this file without the server's modules.
    async setup(own) {
      const { createOpenApi } = await import('./server/index')
      server = createOpenApi({ ...options, access: imported(access ?? true, 'openApi.access') }, own)
    },
    routes: isOff ? [] : [document, ...reference ? [page] : []],
  }
})
