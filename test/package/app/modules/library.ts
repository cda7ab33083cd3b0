/** Registers the app's one resource, as the documentation shows it. */
import { createResolver, defineNuxtModule } from '@nuxt/kit'
import { createModuleImport } from 'nuxt-auto-api'

export default defineNuxtModule({
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)
    nuxt.hook('autoApi:registerSchema', (registry) => {
      registry.register('books', {
        schema: createModuleImport(resolve('../server/database/schema'), 'books'),
        authorization: createModuleImport(resolve('../server/auth/books'), 'booksAuth'),
      })
    })
  },
})
