/** The older module of the same name, with tenancy and a `listFilter` over the same tables. */
export default defineNuxtConfig({
  modules: ['@websideproject/nuxt-auto-api'],
  devtools: { enabled: false },
  compatibilityDate: '2026-01-01',
  telemetry: false,
  // Its transactions are asynchronous, which better-sqlite3 does not support: a bulk write would return 500.
  autoApi: {
    database: { client: 'better-sqlite3' },
    bulk: { transactional: false },
    multiTenancy: { enabled: true, tenantIdField: 'organizationId', scopedResources: '*', requireTenant: true },
  },
})
