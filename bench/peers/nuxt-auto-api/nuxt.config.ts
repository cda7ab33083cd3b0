/** The older module of this name: tenancy and a `listFilter` over the same tables. */
export default defineNuxtConfig({
  modules: ['@websideproject/nuxt-auto-api'],
  devtools: { enabled: false },
  compatibilityDate: '2026-01-01',
  telemetry: false,
  // Its transactions are asynchronous, which better-sqlite3's cannot be: with them a bulk write is a 500.
  autoApi: { database: { client: 'better-sqlite3' }, bulk: { transactional: false }, multiTenancy: { enabled: true, tenantIdField: 'organizationId', scopedResources: '*', requireTenant: true } },
})
