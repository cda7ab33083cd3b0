/** Example of docs/4.plugins/1.audit.md and docs/4.plugins/2.activity.md. */
import { activityFeed, auditLog } from 'nuxt-auto-api/plugins'

export default [
  auditLog({ secrets: { users: ['recoveryCode'] }, retentionDays: 365 }),
  activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
]
