/** What `apiTokens` offers to other plugins of the same server. */
import { defineService } from '../../../server/kit/listen'
import type { PluginServer } from '../../../server/plugin/server'
import type { AuthenticateOptions } from './authenticate'
import type { TokenPolicy } from '../options'

export interface TokenService {
  readonly policy: TokenPolicy
  readonly authentication: AuthenticateOptions
}

const TOKENS = defineService<TokenService>('API tokens')

export const provideTokens = ({ services }: PluginServer, service: TokenService): void => services.set(TOKENS, service)

/** @throws When the server has no plugin `apiTokens`. */
export function requireTokens({ services }: PluginServer, plugin: string): TokenService {
  const service = services.get(TOKENS)
  if (!service) throw new Error(`[auto-api] \`${plugin}\` requires the plugin \`apiTokens\`. Add it to \`autoApi.plugins\`.`)
  return service
}
