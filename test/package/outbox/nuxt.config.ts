/** The fresh app with the plugin of the docs page `plugins`. */
import { createModuleImport } from 'nuxt-auto-api'
import { outbox } from './server/outbox'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  compatibilityDate: '2026-01-01',
  telemetry: false,
  autoApi: {
    plugins: [
      outbox({
        table: createModuleImport('~~/server/schema', 'events'),
        authorization: createModuleImport('~~/server/auth/events', 'eventsAuth'),
      }),
    ],
  },
})
