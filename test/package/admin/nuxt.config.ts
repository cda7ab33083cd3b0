/** An app that has nothing but Nuxt, the packed module, one table and the admin. */
export default defineNuxtConfig({
  modules: ['nuxt-auto-api', 'nuxt-auto-api/admin'],
  // Fonts and icons would come from servers on the internet.
  ui: { fonts: false },
  compatibilityDate: '2026-01-01',
  telemetry: false,
  autoAdmin: {
    middleware: 'staff',
    customPages: [
      { path: '/report', label: 'Report', component: '~/admin/book-report.vue', permissions: ['books:create'] },
    ],
  },
  icon: { provider: 'none', clientBundle: { scan: false } },
})
