/** The Nuxt module of the admin: its options, its hooks and the order of its setup. */
import { addServerTemplate, createResolver, defineNuxtModule, useLogger } from '@nuxt/kit'
import type { NuxtModule } from 'nuxt/schema'
import { addChunks } from './build/admin/chunks'
import { addIcons } from './build/admin/icons'
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

export type { AdminOptions, CustomPage } from './build/admin/options'

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

    const resolved = resolveAdminOptions({ ...autoAdmin }, path => findImportPath(path, nuxt.options))
    const ui = findNuxtUi(nuxt)
    nuxt.hook('modules:done', async () => assertNoProblems([
      ...await findRequirementProblems(nuxt),
      ...findRemovedOptions({ autoAdmin }),
      ...resolved.problems,
      ...findPublicComponents(nuxt, resolved.components),
    ]))
    nuxt.hook('autoApi:registered', ({ tables }) =>
      assertNoProblems(checkAdminResources(resolved.config, tables.registrations.map(({ name }) => name))))

    const chunksOf = addChunks(nuxt, resolved.components, resolve('./runtime/admin'))
    addServerTemplate({
      filename: '#auto-admin/plugin',
      getContents: () => generateAdminPlugin(resolve('./runtime/plugins/admin/index'), resolved.config, chunksOf()),
    })
    nuxt.hook('autoApi:registerPlugins', registry => registry.add(createModuleImport('#auto-admin/plugin', 'admin')))
    addAdminTemplates(resolved)
    keepServerPrefetch(nuxt)
    addIcons(nuxt, resolve('./runtime/admin'))
    addStyles(nuxt, ui, resolve('./runtime/admin'))
    addAdminPage(nuxt, resolved, resolve, warning => logger.warn(warning))
  },
})

export default admin
