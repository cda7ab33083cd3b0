/** The app on Nuxt 5, whose Nitro bundles packages unless they are named: a native one must stay outside. */
export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  compatibilityDate: '2026-01-01',
  nitro: { traceDeps: ['better-sqlite3'] },
  telemetry: false,
  autoApi: { plugins: ['./server/streams'] },
})
