/** Registers the tables of the dialect. */
import { createModuleImport } from 'nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'

export default defineNuxtModule({
  meta: { name: 'bench-growth' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)
    const schema = resolve(`../server/database/${process.env.BENCH_DIALECT === 'pg' ? 'pg' : 'sqlite'}`)

    nuxt.hook('autoApi:registerSchema', (registry) => {
      for (const name of ['users', 'posts', 'comments', 'auditLog']) {
        registry.register(name, {
          schema: createModuleImport(schema, name),
          authorization: createModuleImport(resolve('../server/auth/rules'), 'everything'),
        })
      }
    })
  },
})
