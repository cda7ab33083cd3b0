/** The older module of this name: tenancy and a `listFilter` over the same tables. */
export default defineNuxtConfig({
  modules: ['@websideproject/nuxt-auto-api'],
  devtools: { enabled: false },
  compatibilityDate: '2026-01-01',
  telemetry: false,
  autoApi: { database: { client: 'better-sqlite3' }, multiTenancy: { enabled: true, tenantIdField: 'organizationId', scopedResources: '*', requireTenant: true } },
})
