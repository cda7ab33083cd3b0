/** A Nuxt module that adds likes: the plugin and its table, the composable, a page of the admin, and a tab of each record in it. */
import { addImports, createResolver, defineNuxtModule } from '@nuxt/kit'
import { createModuleImport } from 'nuxt-auto-api'
import { likes, type LikesOptions } from './server'

export default defineNuxtModule<LikesOptions>({
  meta: { name: 'likes', configKey: 'likes' },
  setup(options, nuxt) {
    const { resolve } = createResolver(import.meta.url)
    nuxt.hook('autoApi:registerSchema', registry => registry.register('likes', {
      schema: createModuleImport(resolve('./schema'), 'likes'),
      authorization: createModuleImport(resolve('./auth'), 'likesAuth'),
    }))
    nuxt.hook('autoApi:registerPlugins', registry => registry.add(likes({ ...options })))
    addImports({ name: 'useLikes', from: resolve('./composables') })
    const admin = nuxt.options.autoAdmin ??= {}
    admin.customPages = [
      ...admin.customPages ?? [], { path: '/most-liked', label: 'Likes', component: resolve('./most-liked.vue'), permissions: ['likes:read'] },
    ]
    nuxt.hook('autoAdmin:extend', registry => registry.add({
      parts: [{ slot: 'recordTab', component: resolve('./record-likes.vue'), features: ['likes'], name: 'likes', label: 'Likes' }],
    }))
  },
})
