/** What `apiTokens` offers to other plugins of the same server. */
import type { PluginServer } from '../../plugin/server'
import type { AuthenticateOptions } from './authenticate'
import type { TokenPolicy } from './options'

export interface TokenService {
  readonly policy: TokenPolicy
  readonly authentication: AuthenticateOptions
}

const services = new WeakMap<PluginServer, TokenService>()

export function provideTokens(server: PluginServer, service: TokenService): void {
  services.set(server, service)
}

/** @throws When the server has no plugin `apiTokens`. */
export function requireTokens(server: PluginServer, plugin: string): TokenService {
  const service = services.get(server)
  if (!service) throw new Error(`[auto-api] \`${plugin}\` requires the plugin \`apiTokens\`. Add it to \`autoApi.plugins\`.`)
  return service
}
