/** The options of the docs page `tenancy`. */
import { defineNuxtConfig } from 'nuxt/config'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  compatibilityDate: '2026-01-01',
  autoApi: {
    multiTenancy: {},
  },
})
