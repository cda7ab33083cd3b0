/** The playground: a multi-tenant app for several news organizations. */
import { fileURLToPath } from 'node:url'
import { createModuleImport } from '../src/build/module-import'
import {
  activityFeed, apiTokens, auditLog, batch, dataExport, fileUpload, idempotency, live, openApi, requestMetadata, responseCache,
  tokenIntrospection, webhooks,
} from '../src/runtime/plugins'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Uses the sources of the module instead of an installed package. */
const sources = {
  'nuxt-auto-api/kit': here('../src/runtime/server/plugin-kit'),
  'nuxt-auto-api/define': here('../src/runtime/server/define'),
  'nuxt-auto-api/plugins': here('../src/runtime/plugins'),
  'nuxt-auto-api/schema/sqlite': here('../src/runtime/plugins/schema-sqlite'),
  'nuxt-auto-api/admin': here('../src/admin'),
  'nuxt-auto-api': here('../src/module'),
}

export default defineNuxtConfig({
  modules: ['@nuxt/ui', 'nuxt-auto-api', 'nuxt-auto-api/admin'],
  devtools: { enabled: false },
  app: { head: { link: [{ rel: 'icon', href: '/favicon.svg', type: 'image/svg+xml' }] } },
  css: ['~/assets/main.css'],
  // Fonts and icons would come from servers on the internet.
  ui: { fonts: false },
  runtimeConfig: {
    /** The environment variable `DATABASE_FILE` overrides it. */
    databaseFile: here('./.data/newsroom.sqlite'),
  },
  alias: sources,
  // Nuxt 5 does not import the functions of Nitro and h3 by default.
  experimental: { nitroAutoImports: true },
  compatibilityDate: '2026-01-01',
  // Each difference between the page of the server and that of the browser appears in the console. The tests read it.
  vite: { define: { __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'true' } },
  // Nuxt sets the aliases in TypeScript for app and server code, but not for `modules/`.
  typescript: {
    nodeTsConfig: {
      compilerOptions: { paths: Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, [path]])) },
    },
  },
  telemetry: false,
  autoAdmin: {
    branding: { name: 'Newsroom', logo: '/favicon.svg' },
    customPages: [
      { path: '/desk-report', label: 'Desk report', icon: 'i-lucide-chart-bar', component: '~/admin/desk-report.vue', permissions: ['posts:delete'] },
    ],
    resources: { posts: { fields: { body: { widget: 'markdown' } } } },
  },
  // Tables with the column `organizationId` are tenant-scoped. The table of organizations does not have the column.
  autoApi: {
    multiTenancy: { excludedResources: ['organizations'] },
    filters: { extended: true },
    plugins: [
      requestMetadata({ ip: 'prefix' }),
      openApi({
        access: true,
        info: { title: 'Newsroom', version: '1.0.0' },
        securitySchemes: { demoUser: { type: 'apiKey', in: 'header', name: 'x-demo-user' } },
        reference: true,
      }),
      fileUpload({
        resources: {
          posts: {
            cover: { accept: ['image/png', 'image/jpeg', 'image/webp'], maxSize: '5mb' },
          },
        },
      }),
      dataExport(),
      idempotency(),
      batch({ maxSteps: 20 }),
      live(),
      responseCache({ resources: ['organizations'] }),
      // The demo data are some years old.
      auditLog({ retentionDays: 3650 }),
      activityFeed({
        actor: { resource: 'users', label: 'name' },
        labels: { posts: 'title', comments: 'body', tags: 'name', media: 'filename', users: 'name' },
      }),
      apiTokens({ findUser: createModuleImport('~~/server/tokens', 'findUser') }),
      tokenIntrospection(),
      // The demo has receivers on the same machine.
      webhooks({ findUser: createModuleImport('~~/server/tokens', 'findUser'), allowHttp: true, allowPrivateNetworks: true }),
      './server/author-chart',
    ],
  },
  icon: {
    fallbackToApi: false,
    localApiEndpoint: '/_icons',
    serverBundle: { collections: ['lucide'] },
    clientBundle: { scan: true },
  },
})
