/** Adds the auto-imports for server code and for Vue code. */
import { addImports, addServerImports } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'

/** Exports of `nuxt-auto-api/utils` that server code can use without an import. */
export const SERVER_IMPORTS: readonly string[] = Object.freeze([
  'createEndpoint', 'getAutoApiContext', 'findAuthorizedRow', 'findAuthorizedRows', 'rowScope', 'atomicWrites', 'reportChanges', 'apiError',
  'recordActivity', 'invalidateCache', 'setConsistencyToken', 'defineResource',
  'restoreSoftDeletedBatch', 'purgeSoftDeletedBatch', 'assertPermission', 'describeApi', 'initializeDatabase', 'getDatabase',
  'addContextExtender', 'addResourceHook', 'addGlobalHook', 'registerPermissionEvaluator',
])

/** Exports of `runtime/app` that Vue code can use without an import. */
export const APP_IMPORTS: readonly string[] = Object.freeze([
  'useAutoApiList', 'useAutoApiGet', 'useAutoApiInfinite', 'useAutoApiAggregate', 'useAutoApiCreate', 'useAutoApiUpdate',
  'useAutoApiDelete', 'useAutoApiRestore', 'useAutoApiPurge', 'useAutoApiMutation', 'useAutoApiOptimisticUpdate',
  'useAutoApiBulkCreate', 'useAutoApiBulkUpdate', 'useAutoApiBulkDelete', 'useAutoApiRelation', 'useAutoApiRelationReplace',
  'useAutoApiRelationAdd', 'useAutoApiRelationRemove', 'useAutoApiPermissions', 'useAutoApiRecordPermissions', 'useAutoApiSchema',
  'useAutoApiAuditLog', 'useAutoApiAuditLogInfinite', 'useAutoApiHistory', 'useAutoApiHistoryInfinite', 'useAutoApiRevert',
  'useAutoApiActivity', 'useAutoApiActivityInfinite', 'useAutoApiEndpoint', 'useAutoApiExport', 'useAutoApiImport',
  'useAutoApiFile', 'useAutoApiFileRemove', 'useAutoApiUpload', 'useAutoApiForm', 'useAutoApiColumns',
  'useAutoApiTokenRotate', 'useAutoApiTokenIntrospect', 'AutoApiError', 'autoApiFormErrors', 'autoApiTag',
])

/** Types of `runtime/app` that Vue code can use without an import. */
export const APP_TYPES: readonly string[] = Object.freeze([
  'AutoApiError',
  'AutoApiResource',
  'AutoApiResourceWith',
  'AutoApiRecord',
  'AutoApiCreateBody',
  'AutoApiUpdateBody',
  'AutoApiListQuery',
  'AutoApiForm',
  'AutoApiColumn',
  'AutoApiFormState',
  'AutoApiStoredFile',
  'AutoApiIntrospection',
  'AutoApiAuditEntry',
  'AutoApiActivityEntry',
  'AutoApiDescription',
  'AutoApiDescribedField',
  'AutoApiDescribedRelation',
  'AutoApiDescribedResource',
])

export function addAutoImports(nuxt: Nuxt, resolve: (path: string) => string, { composables }: { readonly composables: boolean }): void {
  const server = resolve('./runtime/server/utils/index')
  // If the app turned off auto-imports in Nitro, `addServerImports` would turn them on again.
  if (nuxt.options.nitro.imports !== false) addServerImports(SERVER_IMPORTS.map(name => ({ name, from: server })))

  if (!composables) return
  leaveOut(nuxt, `${resolve('./runtime')}/`)
  const app = resolve('./runtime/app/index')
  addImports([...APP_IMPORTS.map(name => ({ name, from: app })), ...APP_TYPES.map(name => ({ name, from: app, type: true }))])
}

/**
 * The files of the package import everything that they use. Nuxt adds no imports to files in `node_modules`, but a linked package is
 * outside of it, and Nuxt 4.0 would import `AutoApiError` into the file that declares it.
 */
function leaveOut(nuxt: Nuxt, folder: string): void {
  const { imports } = nuxt.options
  const files = new RegExp(`^${folder.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`)
  imports.transform = { ...imports.transform, exclude: [...imports.transform?.exclude ?? [], files] }
}
