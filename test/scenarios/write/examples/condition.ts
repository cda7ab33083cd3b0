/** The condition of docs/2.guides/11.hooks.md. */
import { eq } from 'drizzle-orm'
import { defineResourceHooks } from 'nuxt-auto-api/define'
import { tasks } from './schema'

export const approvedTasksHooks = defineResourceHooks<typeof tasks>({
  beforeUpdate: (id, data, ctx) => {
    ctx.condition = eq(tasks.approved, false)
  },
})
