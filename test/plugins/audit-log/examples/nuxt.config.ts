/** Example of the docs page `audit`. */
import { defineNuxtConfig } from 'nuxt/config'
import { auditLog } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      auditLog({ secrets: { users: ['recoveryCode'] }, retentionDays: 365 }),
    ],
  },
})
