/** Registers the measured tables of the dialect. */
import { createModuleImport } from 'nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'

export default defineNuxtModule({
  meta: { name: 'bench-posts' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)

    nuxt.hook('autoApi:registerSchema', (registry) => {
      for (const name of ['posts', 'users']) {
        registry.register(name, {
          schema: createModuleImport(nuxt.options.alias['#tables']!, name),
          authorization: createModuleImport(resolve('../server/auth/rules'), `${name}Auth`),
        })
      }
    })
  },
})
