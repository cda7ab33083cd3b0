/** The server part of the admin: tells a caller which pages they can open. The module `nuxt-auto-api/admin` lists this plugin. */
import type { AdminChunk, AdminConfig } from '../../shared/types/admin'
import type { AutoApiPlugin } from '../../server/plugin/contract'
import { provideAdmin, readAdmin } from '../../server/plugin/features'
import type { PluginServer } from '../../server/plugin/server'
import { canEnter, readAdminAccess } from './access'
import { readRowLimits } from './row-limits'

/**
 * Creates the plugin with `GET /_admin` and `GET /_admin/rows`.
 * @param chunks the files of each component, by its path
 */
export function adminPlugin(config: AdminConfig, chunks: Readonly<Record<string, AdminChunk>>): AutoApiPlugin {
  let server: PluginServer
  return {
    name: 'admin',
    setup(own) {
      server = own
      provideAdmin(own, { tools: { permissions: () => true } })
    },
    routes: [
      {
        name: 'admin',
        method: 'GET',
        path: '/_admin',
        parameters: [],
        describe: { summary: 'What the admin shows to this caller', responses: { 200: { schema: { type: 'object' } } } },
        documentedFor: ctx => canEnter(ctx, config),
        handler(ctx, request) {
          request.setHeader('cache-control', 'no-store')
          return readAdminAccess(ctx, config, chunks, readAdmin(server))
        },
      },
      {
        name: 'admin-rows',
        method: 'GET',
        path: '/_admin/rows',
        parameters: [],
        describe: { summary: 'Which operations a rule limits for this caller', responses: { 200: { schema: { type: 'object' } } } },
        documentedFor: ctx => canEnter(ctx, config),
        handler(ctx, request) {
          request.setHeader('cache-control', 'no-store')
          return readRowLimits(ctx, config)
        },
      },
    ],
  }
}
