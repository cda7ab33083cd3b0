/** Adds the auto-imports for server code and for Vue code. */
import { addImports, addServerImports, addTemplate } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { SLICES } from '../runtime/plugins/slices'
import { INSTALL_QUERY } from './peer-dependencies'

/** Exports of `nuxt-auto-api/utils` that server code can use without an import. */
export const SERVER_IMPORTS: readonly string[] = Object.freeze([
  'createEndpoint', 'getAutoApiContext', 'findAuthorizedRow', 'findAuthorizedRows', 'rowScope', 'atomicWrites', 'reportChanges', 'apiError',
  'recordActivity', 'invalidateCache', 'setConsistencyToken', 'defineResource',
  'restoreSoftDeletedBatch', 'purgeSoftDeletedBatch', 'assertPermission', 'describeApi', 'initializeDatabase', 'getDatabase',
  'addContextExtender', 'addResourceHook', 'addGlobalHook', 'registerPermissionEvaluator',
])

/** Exports of `runtime/app` that Vue code can use without an import. */
const APP_IMPORTS: readonly string[] = [
  'useAutoApiList', 'useAutoApiGet', 'useAutoApiInfinite', 'useAutoApiAggregate', 'useAutoApiCreate', 'useAutoApiUpdate',
  'useAutoApiDelete', 'useAutoApiRestore', 'useAutoApiPurge', 'useAutoApiMutation', 'useAutoApiOptimisticUpdate',
  'useAutoApiBulkCreate', 'useAutoApiBulkUpdate', 'useAutoApiBulkDelete', 'useAutoApiRelation', 'useAutoApiRelationReplace',
  'useAutoApiRelationAdd', 'useAutoApiRelationRemove', 'useAutoApiPermissions', 'useAutoApiRecordPermissions', 'useAutoApiSchema',
  'useAutoApiEndpoint', 'useAutoApiForm', 'useAutoApiColumns', 'AutoApiError', 'autoApiFormErrors', 'autoApiTag',
]

/** Types of `runtime/app` that Vue code can use without an import. */
const APP_TYPES: readonly string[] = [
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
  'AutoApiDescription',
  'AutoApiDescribedField',
  'AutoApiDescribedRelation',
  'AutoApiDescribedResource',
]

interface VueImports {
  /** A file in `runtime`. */
  readonly file: string
  readonly names: readonly string[]
  readonly types: readonly string[]
}

/** What Vue code can use without an import, by file. */
export const VUE_IMPORTS: readonly VueImports[] = Object.freeze([
  { file: 'app/index', names: APP_IMPORTS, types: APP_TYPES },
  ...SLICES.filter(({ imports }) => imports !== undefined)
    .map(({ folder, imports = [], types = [] }) => ({ file: `plugins/${folder}/app/index`, names: imports, types })),
])

export function addAutoImports(nuxt: Nuxt, resolve: (path: string) => string, { composables }: { readonly composables: boolean }): void {
  const server = resolve('./runtime/server/utils/index')
  // If the app turned off auto-imports in Nitro, `addServerImports` would turn them on again.
  if (nuxt.options.nitro.imports !== false) addServerImports(SERVER_IMPORTS.map(name => ({ name, from: server })))

  if (!composables) {
    const { dst } = addTemplate({ filename: 'auto-api/without-query.ts', write: true, getContents: generateMissing })
    addImports(VUE_IMPORTS.flatMap(({ names }) => names.map(name => ({ name, from: dst }))))
    return
  }
  leaveOut(nuxt, `${resolve('./runtime')}/`)
  addImports(VUE_IMPORTS.flatMap(({ file, names, types }) => {
    const from = resolve(`./runtime/${file}`)
    return [...names.map(name => ({ name, from })), ...types.map(name => ({ name, from, type: true }))]
  }))
}

/** Generates stand-ins of the exports that need TanStack Query, so that a page that uses one fails with the command to install it. */
export function generateMissing(): string {
  const names = VUE_IMPORTS.flatMap(({ names }) => names)
  const functions = names.map(name => `export function ${name}(..._: unknown[]): never { return missing('${name}') }`)
  return [
    'function missing(name: string): never {',
    `  throw new Error(\`[auto-api] \${name} requires @tanstack/vue-query, which is not installed. Run "${INSTALL_QUERY}".\`)`,
    '}',
    ...functions,
    '',
  ].join('\n')
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
