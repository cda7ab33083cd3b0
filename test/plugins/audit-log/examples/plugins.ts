/** Example of the docs pages `audit` and `activity`. */
import { activityFeed, auditLog } from 'nuxt-auto-api/plugins'

export default [
  auditLog({ secrets: { users: ['recoveryCode'] }, retentionDays: 365 }),
  activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
]
