import { createModuleImport } from 'nuxt-auto-api'
import { betterAuth } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['@nuxt/ui', 'nuxt-auto-api', 'nuxt-auto-api/admin'],
  css: ['~/assets/css/main.css'],
  // The fonts of the system: no request to another server.
  ui: { fonts: false },
  compatibilityDate: '2026-01-01',
  nitro: {
    preset: 'cloudflare_module',
    cloudflare: { deployConfig: false, nodeCompat: true },
  },
  autoAdmin: {
    middleware: 'signed-in',
    resources: { tasks: { columns: ['title', 'status', 'createdAt'] } },
  },
  autoApi: {
    plugins: [betterAuth({ auth: createModuleImport('~~/server/auth', 'auth') })],
  },
  icon: { clientBundle: { scan: true } },
})
