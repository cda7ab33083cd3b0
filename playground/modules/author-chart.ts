/** Adds a chart of the view `authorStats` to the overview of the admin. */
import { createResolver, defineNuxtModule } from 'nuxt/kit'

export default defineNuxtModule({
  meta: { name: 'author-chart' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)
    nuxt.hook('autoAdmin:extend', registry => registry.add({
      parts: [{ slot: 'overview', component: resolve('../app/admin/author-chart.vue'), tool: 'authorChart' }],
    }))
  },
})
