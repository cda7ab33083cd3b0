/** API tokens: requests without a session, with the current rights of the token's owner. */
import type { Table } from 'drizzle-orm'
import type { UpdateRow } from '../../server/kit/records'
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { provideAdmin, provideFeatures } from '../../server/plugin/features'
import { createIssuedSecrets } from '../../server/plugin/issued'
import { imported } from '../../server/plugin/options'
import { createOwnedRows } from '../../server/plugin/owned-rows'
import type { PluginTable } from '../../server/plugin/table'
import { resolveStore } from '../../server/plugin/counter/store'
import { assertNoTokenInUrl, authenticate, type AuthenticateOptions } from './server/authenticate'
import { createFailureCounter } from './server/failures'
import { createTokenFormat } from './server/format'
import { createLastUsed } from './server/last-used'
import { createHooks, type ManageOptions } from './server/manage'
import { resolveOptions, type ApiTokensOptions } from './options'
import { ROTATE, rotateRoute } from './server/rotate'
import { assertTokenTable, type TokenRow } from './server/row'
import { provideTokens } from './server/service'
import type { TokenFeatures } from './shared/admin'

/** Addresses whose failures one server counts. */
const MAX_ADDRESSES = 100_000

/**
 * Accepts API tokens in `Authorization: Bearer aat_…`. The generated routes of `resource` make, list, change and revoke them.
 * @throws If an option is unknown or a value is invalid. On the server, also if the table of the resource lacks a column.
 * @example
 * autoApi: {
 *   plugins: [apiTokens({ findUser: createModuleImport('~~/server/tokens', 'findUser') })],
 * }
 */
export const apiTokens = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'apiTokens' }, (options: ApiTokensOptions) => {
  const policy = resolveOptions(options)
  const { resource } = policy
  const format = createTokenFormat(policy.prefix)
  const issued = createIssuedSecrets<TokenRow>({ resource, key: 'token', rotate: ROTATE })
  let table: Table
  let update: UpdateRow
  let access: PluginTable
  let authentication: AuthenticateOptions
  let toTokenId: ManageOptions['toTokenId']
  const manage: ManageOptions = {
    policy, format, issued, access: () => access, update: () => update, table: () => table, toTokenId: id => toTokenId(id),
    findUser: () => authentication.findUser,
  }

  return {
    name: 'api-tokens',
    setup(server) {
      const found = server.resources.get(resource)
      access = server.table(resource)
      assertTokenTable(found!)
      table = found!.table
      update = server.update
      toTokenId = id => found!.canonicalId(id)
      const { limit, window, store } = policy.failures
      const counter = resolveStore(imported(store, 'apiTokens.failures.store'), MAX_ADDRESSES, server.storage, 'apiTokens.failures')
      authentication = {
        format, access, resource,
        failures: createFailureCounter(counter, limit, window),
        findUser: imported(policy.findUser, 'apiTokens.findUser'),
        config: server.config,
        markUsed: createLastUsed(access, table),
      }
      provideTokens(server, { policy, authentication })
      provideFeatures(server, { tokens: { resource } })
      provideAdmin(server, {
        features: (_session, { name }): TokenFeatures => name === resource ? { tokens: true } : {},
        tools: { tokens: (_session, described) => Object.hasOwn(described, resource) },
      })
    },
    onRequest: request => assertNoTokenInUrl(request, format),
    credentials: request => authenticate(request, authentication),
    // The time of the last use is written after the response, without a report.
    unreported: [resource],
    rows: { [resource]: createOwnedRows({ access: () => access, manage: policy.manage }) },
    hooks: { [resource]: createHooks(manage) },
    onResponse: issued.onResponse,
    routes: [rotateRoute(manage)],
  }
})
