/** The server part of the admin: tells a caller which pages they can open. The module `nuxt-auto-api/admin` lists this plugin. */
import type { AdminChunk, AdminConfig } from '../../../shared/types/admin'
import type { AutoApiPlugin } from '../../plugin/contract'
import { readAdminAccess } from './access'

/**
 * Creates the plugin with `GET /_admin`.
 * @param chunks the files of each component, by its path
 */
export function adminPlugin(config: AdminConfig, chunks: Readonly<Record<string, AdminChunk>>): AutoApiPlugin {
  return {
    name: 'admin',
    routes: [{
      name: 'admin',
      method: 'GET',
      path: '/_admin',
      handler(ctx, request) {
        request.setHeader('cache-control', 'no-store')
        return readAdminAccess(ctx, config, chunks)
      },
    }],
  }
}
