/** Provides one query client per request and sends its state from the server to the browser. Does nothing if the app provides a client. */
import { QueryClient, VUE_QUERY_CLIENT, VueQueryPlugin } from '@tanstack/vue-query'
import { inject, markRaw } from 'vue'
import { defineNuxtPlugin, useState, type Plugin } from './nuxt'
import { restore, toSentQueries, type SentQuery } from './payload'

const plugin: Plugin = defineNuxtPlugin({
  name: 'auto-api:query',
  setup(nuxtApp) {
    if (nuxtApp.vueApp.runWithContext(() => inject(VUE_QUERY_CLIENT, undefined))) return
    const client = new QueryClient()
    nuxtApp.vueApp.use(VueQueryPlugin, { queryClient: client })

    const sent = useState<SentQuery[] | undefined>('auto-api', () => undefined)
    if (import.meta.server) nuxtApp.hook('app:rendered', () => void (sent.value = markRaw(toSentQueries(client))))
    else if (sent.value) restore(client, sent.value)
  },
})

export default plugin
