/** Example of docs/audit.md and docs/activity.md. */
import { activityFeed, auditLog } from 'nuxt-auto-api/plugins'

export default [
  auditLog({ secrets: { users: ['recoveryCode'] }, retentionDays: 365 }),
  activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
]
