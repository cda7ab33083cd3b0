/** The Nuxt module of the admin: its options, its hooks and the order of its setup. */
import { addServerTemplate, createResolver, defineNuxtModule, useLogger } from '@nuxt/kit'
import type { NuxtModule } from 'nuxt/schema'
import { addChunks } from './build/admin/chunks'
import { addIcons } from './build/admin/icons'
import { addDates } from './build/admin/dates'
import { addExtensions, collectExtensions, pluginDirs, type AdminRegistry, type ResolvedExtensions } from './build/admin/extensions'
import { keepServerPrefetch } from './build/admin/ids'
import { findNuxtUi, nuxtUiDependency } from './build/admin/nuxt-ui'
import { resolveAdminOptions, type AdminOptions } from './build/admin/options'
import { addAdminPage } from './build/admin/page'
import { findPublicComponents, findRequirementProblems } from './build/admin/requirements'
import { checkAdminResources } from './build/admin/resources'
import { addStyles } from './build/admin/styles'
import { addAdminTemplates, generateAdminPlugin } from './build/admin/templates'
import { createModuleImport, findImportPath } from './build/module-import'
import { assertNoProblems } from './build/problem'
import { findRemovedOptions } from './build/removed'

export type { AdminRegistry } from './build/admin/extensions'
export type { AdminOptions, CustomPage } from './build/admin/options'
export type { AdminExtension, AdminPartOptions, AdminViewOptions } from './runtime/shared/types/admin'

export interface AdminHooks {
  /**
   * Adds views and parts of pages to the admin. Nuxt calls the hook once, after the setup of all modules.
   * @example
   * nuxt.hook('autoAdmin:extend', registry => registry.add({
   *   views: { likes: { component: resolve('./most-liked.vue'), label: 'Likes', icon: 'i-lucide-heart' } },
   * }))
   */
  'autoAdmin:extend': (registry: AdminRegistry) => void | Promise<void>
}

declare module '@nuxt/schema' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface NuxtHooks extends AdminHooks {}
}

const admin: NuxtModule<AdminOptions> = defineNuxtModule<AdminOptions>({
  meta: {
    name: 'nuxt-auto-api/admin',
    configKey: 'autoAdmin',
    compatibility: { nuxt: '>=4.1.0' },
  },
  moduleDependencies: nuxtUiDependency,
  async setup(autoAdmin, nuxt) {
    const { resolve } = createResolver(import.meta.url)
    const logger = useLogger('auto-api')

    const findPath = (path: string) => findImportPath(path, nuxt.options)
    const resolved = resolveAdminOptions({ ...autoAdmin }, findPath)
    let extensions: ResolvedExtensions = { views: [], parts: [], queries: {}, problems: [] }
    const ui = findNuxtUi(nuxt)
    nuxt.hook('modules:done', async () => {
      extensions = await collectExtensions(resolve, registry => nuxt.callHook('autoAdmin:extend', registry), findPath)
      const added = [...extensions.views, ...extensions.parts].map(({ component }) => component)
      assertNoProblems([
        ...await findRequirementProblems(nuxt),
        ...findRemovedOptions({ autoAdmin }),
        ...resolved.problems,
        ...extensions.problems,
        ...findPublicComponents(nuxt, [...resolved.components, ...added]),
      ])
    })
    nuxt.hook('autoApi:registered', ({ tables }) =>
      assertNoProblems(checkAdminResources(resolved.config, tables.registrations.map(({ name }) => name))))

    const dirs = [resolve('./runtime/admin'), ...pluginDirs(resolve)]
    const chunksOf = addChunks(nuxt, resolved.components, dirs)
    addServerTemplate({
      filename: '#auto-admin/plugin',
      getContents: () => generateAdminPlugin(resolve('./runtime/plugins/admin/index'), resolved.config, chunksOf()),
    })
    nuxt.hook('autoApi:registerPlugins', registry => registry.add(createModuleImport('#auto-admin/plugin', 'admin')))
    addAdminTemplates(resolved)
    keepServerPrefetch(nuxt)
    addExtensions(() => extensions)
    addDates(nuxt, resolve('./runtime/admin/kit/date-input.vue'))
    addIcons(nuxt, dirs, () => extensions)
    addStyles(nuxt, ui, dirs)
    addAdminPage(nuxt, resolved, resolve, warning => logger.warn(warning))
  },
})

export default admin
