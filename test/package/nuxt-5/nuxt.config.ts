/** The app on Nuxt 5. */
export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  compatibilityDate: '2026-01-01',
  telemetry: false,
  autoApi: { plugins: ['./server/streams'] },
})
