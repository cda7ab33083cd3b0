/** A fresh app that has nothing but Nuxt, the packed module and one table. */
export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  compatibilityDate: '2026-01-01',
  telemetry: false,
  autoApi: { plugins: ['./server/streams'] },
})
