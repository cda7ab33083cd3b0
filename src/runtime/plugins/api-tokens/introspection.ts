/** `POST /tokens/introspect` (RFC 7662): tells the owner of an API token whether it is valid, and what it can do now. */
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { assertOptions } from '../../server/plugin/options'
import { isCount, positiveInteger, type OptionRules } from '../../shared/option-rule'
import { BODY, DESCRIPTION } from './describe-introspection'
import type { Introspector } from './server/introspect'

export interface TokenIntrospectionOptions {
  /**
   * Requests of one user in one window.
   * @default 60
   */
  readonly limit?: number
  /**
   * Length of one window in seconds.
   * @default 60
   */
  readonly window?: number
}

const MAX_WINDOW = 24 * 60 * 60

const RULES: OptionRules<TokenIntrospectionOptions> = {
  limit: positiveInteger,
  window: { fits: value => isCount(value) && Number(value) <= MAX_WINDOW, use: `a number of seconds from 1 to ${MAX_WINDOW}` },
}

/**
 * Adds `POST /tokens/introspect` for signed-in callers. Requires the plugin `apiTokens`.
 * @throws If an option is unknown or a value is invalid. On the server, also without the plugin `apiTokens`.
 * @example
 * autoApi: { plugins: [apiTokens({ findUser: … }), tokenIntrospection()] }
 */
export const tokenIntrospection = defineAutoApiPlugin(
  { from: 'nuxt-auto-api/plugins', name: 'tokenIntrospection' },
  (options: TokenIntrospectionOptions = {}) => {
    assertOptions(options, RULES, 'tokenIntrospection')
    const { limit = 60, window = 60 } = options
    let introspector: Introspector

    return {
      name: 'token-introspection',
      // Loaded here, because nuxt.config loads this file without the server's modules.
      async setup(server) {
        const { createIntrospector } = await import('./server/introspect')
        introspector = createIntrospector({ limit, window }, server)
      },
      routes: [{
        name: 'token-introspect',
        method: 'POST',
        path: '/tokens/introspect',
        parameters: [],
        accepts: ['application/json', 'application/x-www-form-urlencoded'],
        body: BODY,
        describe: DESCRIPTION,
        documentedFor: ctx => introspector.canUse(ctx),
        handler: (ctx, request) => introspector.introspect(ctx, request),
      }],
    }
  },
)
