/** Starts live queries in the browser. Only apps that list the plugin `live` have this Nuxt plugin. */
import { useQueryClient } from '@tanstack/vue-query'
import { watch } from 'vue'
import { useClient } from '../../../app/client'
import { defineNuxtPlugin, onNuxtReady, prefix, useRuntimeConfig, useState, type Plugin } from '../../../app/nuxt'
import { addQueryExtension } from '../../../app/query-extensions'
import { thisBrowser } from './browser'
import { connectWith } from './connect'
import { followQueries } from './follow'
import { createLive, LIVE } from './live'
import { TIMING } from './timing'

const plugin: Plugin = defineNuxtPlugin({
  name: 'auto-api:live',
  dependsOn: ['auto-api:query'],
  setup({ vueApp }) {
    const { baseURL } = useRuntimeConfig().app
    // Tabs of a browser have the same cookies. An app whose tabs can have different callers sets this state.
    const caller = useState('auto-api:live-caller', () => '')
    let isNoted = false

    const live = createLive({
      queryClient: vueApp.runWithContext(() => useQueryClient()),
      connect: connectWith(useClient()),
      name: () => `auto-api live ${baseURL} ${prefix} ${caller.value}`,
      browser: thisBrowser(),
      timing: TIMING,
      onPolling() {
        if (import.meta.dev && !isNoted) console.info('[auto-api] The server has no streams, so live queries are refetched at intervals.')
        isNoted = true
      },
    })
    vueApp.provide(LIVE, live)
    addQueryExtension(vueApp, followQueries(live))

    onNuxtReady(() => live.start())
    watch(caller, () => {
      live.stop()
      live.start()
    })
    // A page in the back/forward cache holds no lock, or it would be dropped from that cache.
    window.addEventListener('pagehide', () => live.stop())
    window.addEventListener('pageshow', ({ persisted }) => {
      if (persisted) live.start()
    })
  },
})

export default plugin
