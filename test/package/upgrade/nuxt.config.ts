/** An app whose database two versions of the module serve at once. */
import { openApi } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  compatibilityDate: '2026-01-01',
  telemetry: false,
  autoApi: { plugins: [openApi({ access: true })] },
})
