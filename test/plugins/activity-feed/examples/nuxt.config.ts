/** Example of the docs page `activity`. */
import { defineNuxtConfig } from 'nuxt/config'
import { activityFeed, auditLog } from 'nuxt-auto-api/plugins'

export default defineNuxtConfig({
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      auditLog({ secrets: { users: ['recoveryCode'] }, retentionDays: 365 }),
      activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
    ],
  },
})
