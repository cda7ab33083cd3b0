/** The auto-imports of server code and Vue code. */
import { addImports, addServerImports } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'

/** From `nuxt-auto-api/utils`, in server code. */
export const SERVER_IMPORTS: readonly string[] = Object.freeze([
  'createEndpoint', 'getAutoApiContext', 'findAuthorizedRow', 'findAuthorizedRows', 'rowScope', 'atomicWrites',
  'restoreSoftDeletedBatch', 'purgeSoftDeletedBatch', 'assertPermission', 'initializeDatabase', 'getDatabase',
  'addContextExtender', 'addResourceHook', 'addGlobalHook', 'registerPermissionEvaluator',
])

/** From `runtime/app`, in Vue code. */
export const APP_IMPORTS: readonly string[] = Object.freeze([
  'useAutoApiList', 'useAutoApiGet', 'useAutoApiInfinite', 'useAutoApiAggregate', 'useAutoApiCreate', 'useAutoApiUpdate',
  'useAutoApiDelete', 'useAutoApiRestore', 'useAutoApiPurge', 'useAutoApiMutation', 'useAutoApiOptimisticUpdate',
  'useAutoApiBulkCreate', 'useAutoApiBulkUpdate', 'useAutoApiBulkDelete', 'useAutoApiRelation', 'useAutoApiRelationReplace',
  'useAutoApiRelationAdd', 'useAutoApiRelationRemove', 'useAutoApiPermissions', 'useAutoApiRecordPermissions',
  'useAutoApiEndpoint', 'AutoApiError', 'autoApiFormErrors',
])

/** Types from `runtime/app`. */
export const APP_TYPES: readonly string[] = Object.freeze([
  'AutoApiError',
  'AutoApiResource',
  'AutoApiResourceWith',
  'AutoApiRecord',
  'AutoApiCreateBody',
  'AutoApiUpdateBody',
  'AutoApiListQuery',
])

export function addAutoImports(nuxt: Nuxt, resolve: (path: string) => string, { composables }: { readonly composables: boolean }): void {
  const server = resolve('./runtime/server/utils/index')
  // Adding imports would turn on the auto-imports of a Nitro that has them turned off.
  if (nuxt.options.nitro.imports !== false) addServerImports(SERVER_IMPORTS.map(name => ({ name, from: server })))

  if (!composables) return
  const app = resolve('./runtime/app/index')
  addImports([...APP_IMPORTS.map(name => ({ name, from: app })), ...APP_TYPES.map(name => ({ name, from: app, type: true }))])
}
