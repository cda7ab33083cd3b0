/** The options of the docs page `tenancy`. */
import { defineNuxtConfig } from 'nuxt/config'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  compatibilityDate: '2026-01-01',
  autoApi: {
    multiTenancy: {},
  },
})

// Nuxt writes this type into an app that lists the module.
declare module '@nuxt/schema' {
  interface NuxtConfig {
    autoApi?: { multiTenancy: object }
  }
}
