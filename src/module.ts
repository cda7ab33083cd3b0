/** The Nuxt module: its options, its hooks and the order of its setup. */
import { addServerTemplate, createResolver, defineNuxtModule, useLogger } from '@nuxt/kit'
import { addClient } from './build/client'
import { prepareNitro } from './build/compat'
import { addExplanations } from './build/explain'
import { findMissingExports } from './build/exports'
import { addAutoImports } from './build/imports'
import { findImportPath } from './build/module-import'
import { addHubDatabase, findHub, findHubTable, isHubModule, watchHub } from './build/nuxthub'
import { resolveOptions, type ModuleOptions } from './build/options'
import { watchPages } from './build/pages'
import { checkRequiredTags, checkResourceNames } from './build/config-checks'
import {
  addPlugins, checkPluginPackages, checkPluginPaths, collectPlugins, registerPluginResources, type PluginRegistry,
} from './build/plugins'
import { checkPeerDependencies, drizzleFileOf, findDrizzleVersion, isInstalled } from './build/peer-dependencies'
import { assertNoProblems } from './build/problem'
import { collectRegistrations, type ResourceRegistry } from './build/registrations'
import { findRemovedOptions } from './build/removed'
import { collectResourceFiles, DEFAULT_RESOURCES_DIR, watchResourceFiles } from './build/resource-files'
import { mountRoutes } from './build/routes'
import { addStartup } from './build/startup'
import type { InspectedTables } from './build/table-descriptions'
import { addTasks } from './build/tasks'
import { generateConfig } from './build/virtual/config'
import type { PluginSource } from './build/virtual/plugins'
import { generateRegistry } from './build/virtual/registry'
import { guardNativeDriver } from './runtime/shared/native-driver'

export { createModuleImport, type ModuleImport } from './build/module-import'
export type { ModuleOptions } from './build/options'
export { AutoApiBuildError, type Problem } from './build/problem'
export type { PluginListing, PluginRegistry } from './build/plugins'
export type { RegistrationOptions, ResourceRegistry } from './build/registrations'

/** What commands need to know about an app. @internal */
export interface Registered {
  readonly tables: InspectedTables
  readonly plugins: readonly PluginSource[]
  readonly warnings: readonly string[]
}

export interface ModuleHooks {
  /**
   * Registers resources. Nuxt calls the hook once, after the setup of all modules.
   * @example
   * nuxt.hook('autoApi:registerSchema', (registry) => {
   *   registry.register('posts', { schema: createModuleImport(resolve('./schema'), 'posts') })
   * })
   */
  'autoApi:registerSchema': (registry: ResourceRegistry) => void | Promise<void>
  /**
   * Adds plugins of a module to the list, before the plugins of the app.
   * @example
   * nuxt.hook('autoApi:registerPlugins', (registry) => {
   *   registry.add(createModuleImport(resolve('./runtime/plugin'), 'default'))
   * })
   */
  'autoApi:registerPlugins': (registry: PluginRegistry) => void | Promise<void>
  /** Called when all resources are registered. Commands use it. @internal */
  'autoApi:registered': (registered: Registered) => void | Promise<void>
}

declare module '@nuxt/schema' {
  interface RuntimeConfig {
    autoApi?: {
      /**
       * Key for hashes and encryption. Set it with `NUXT_AUTO_API_SECRET`. For example, it encrypts a cursor that contains values of
       * columns that the caller cannot read.
       */
      secret?: string
      /**
       * The secret before the last change. What was made with it is accepted, and nothing is made with it. Set it with
       * `NUXT_AUTO_API_PREVIOUS_SECRET`.
       */
      previousSecret?: string
      /**
       * Keys for `fileUpload` with the storage `s3`. Set them with `NUXT_AUTO_API_S3_ACCESS_KEY_ID`,
       * `NUXT_AUTO_API_S3_SECRET_ACCESS_KEY` and, for temporary keys, `NUXT_AUTO_API_S3_SESSION_TOKEN`.
       */
      s3?: { accessKeyId?: string, secretAccessKey?: string, sessionToken?: string }
    }
  }
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface NuxtHooks extends ModuleHooks {}
}

export default defineNuxtModule<ModuleOptions>({
  meta: {
    name: 'nuxt-auto-api',
    configKey: 'autoApi',
    compatibility: { nuxt: '>=4.0.0' },
  },
  async setup(autoApi, nuxt) {
    // The build loads the files of the tables, which can open a database.
    guardNativeDriver()
    const { resolve } = createResolver(import.meta.url)
    const logger = useLogger('auto-api')
    const { autoAdmin } = nuxt.options as { autoAdmin?: unknown }

    const drizzle = await findDrizzleVersion(nuxt)
    const peers = await checkPeerDependencies(isInstalled(nuxt), drizzle)
    nuxt.options.alias['#auto-api/drizzle'] = resolve(drizzleFileOf(drizzle))

    // Nuxt reads NUXT_AUTO_API_SECRET and NUXT_AUTO_API_PREVIOUS_SECRET only if the runtime config declares the keys.
    nuxt.options.runtimeConfig.autoApi = { secret: '', previousSecret: '', ...nuxt.options.runtimeConfig.autoApi as object | undefined }
    const nitro = prepareNitro(nuxt, resolve('./runtime'), autoApi.bundleDrizzle !== false)
    addAutoImports(nuxt, resolve, peers)
    addTasks(nuxt, resolve)
    addStartup(nuxt, resolve)

    nuxt.hook('modules:done', async () => {
      const { plugins: listed, resourcesDir = DEFAULT_RESOURCES_DIR, ...rest } = autoApi
      const options = resolveOptions(rest, nuxt.options.dev)
      const hub = await findHub(nuxt)
      const findPath = (path: string, name = '') =>
        hub && isHubModule(path) ? findHubTable(hub, name) : findImportPath(path, nuxt.options)
      const plugins = await collectPlugins(
        listed,
        registry => nuxt.callHook('autoApi:registerPlugins', registry),
        findPath,
        nuxt.options.rootDir,
      )
      const files = collectResourceFiles(resourcesDir, nuxt)
      const resources = await collectRegistrations(
        async (registry) => {
          await nuxt.callHook('autoApi:registerSchema', registry)
          await registerPluginResources(plugins.made, registry)
        },
        findPath,
        files.resources,
      )
      const names = resources.registrations.map(({ name }) => name)

      const warnings = [...options.warnings, ...resources.warnings]
      for (const warning of warnings) logger.warn(warning)
      assertNoProblems([
        ...findRemovedOptions({ autoApi, autoAdmin }),
        ...peers.problems,
        ...options.problems,
        ...hub?.problems ?? [],
        ...files.problems,
        ...resources.problems,
        ...plugins.problems,
        ...await checkPluginPackages(plugins.sources, isInstalled(nuxt)),
        ...checkPluginPaths(plugins.made, names),
        ...findMissingExports([...resources.named, ...plugins.named], nuxt.options.rootDir),
        ...checkResourceNames(options.config, names),
        ...checkRequiredTags(options.config, resources.registrations),
      ])

      if (hub) {
        logger.info(`The database is that of NuxtHub: ${hub.dialect} with the driver ${hub.driver}.`)
        addHubDatabase(hub, resolve)
        watchHub(nuxt, hub)
      }
      watchResourceFiles(resourcesDir, nuxt, files)
      const pagesBelow = watchPages(nuxt, options.config.prefix)
      addServerTemplate({
        filename: '#auto-api/config',
        getContents: () => generateConfig(options.config, nitro.eventBase, pagesBelow()),
      })
      addServerTemplate({
        filename: '#auto-api/registry',
        getContents: () => generateRegistry(resources.registrations, nuxt.options.rootDir, hub?.schema),
      })
      const pluginPaths = plugins.made.flatMap(({ routes = [] }) => routes.map(({ path }) => path))
      const mounted = mountRoutes(nuxt, names, options.config.prefix, resolve, pluginPaths)
      await addPlugins(nuxt, plugins, mounted, resolve)
      if (autoApi.explain !== false) await addExplanations(nuxt, resources.registrations, files.resources, resolve)
      const tables: InspectedTables = {
        registrations: resources.registrations,
        config: options.config,
        isTenancySet: autoApi.multiTenancy !== undefined,
        rootDir: nuxt.options.rootDir,
        alias: nuxt.options.alias,
        describer: resolve('./runtime/server/schema/describe'),
        inspector: resolve('./runtime/server/schema/inspect'),
        define: resolve('./runtime/server/define'),
        offline: resolve('./runtime/server/kit/api'),
        plugins: resolve('./runtime/plugins'),
      }
      addClient(nuxt, { tables, composables: peers.composables, plugins: plugins.made.map(({ name }) => name) }, resolve)
      await nuxt.callHook('autoApi:registered', { tables, plugins: plugins.sources, warnings })
    })
  },
})
