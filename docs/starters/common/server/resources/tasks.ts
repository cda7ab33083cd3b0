import { eq } from 'drizzle-orm'
import { tasks } from '../database/schema'

export default defineResource(tasks, {
  permissions: {
    read: ctx => ctx.user !== null,
    create: ctx => ctx.user !== null,
    update: ctx => ctx.user !== null,
    delete: ctx => ctx.user !== null,
  },
  // For a user, only their own tasks exist. Administrators have access to all.
  listFilter: (table, ctx) => ctx.user?.role === 'admin' ? undefined : eq(table.createdBy, ctx.user?.id ?? ''),
  metadata: { icon: 'i-lucide-list-checks' },
})
