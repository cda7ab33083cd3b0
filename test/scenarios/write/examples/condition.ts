/** The condition of the docs page `hooks`. */
import { eq } from 'drizzle-orm'
import { defineResourceHooks } from 'nuxt-auto-api/define'
import { tasks } from './schema'

export const approvedTasksHooks = defineResourceHooks<typeof tasks>({
  beforeUpdate: (id, data, ctx) => {
    ctx.condition = eq(tasks.approved, false)
  },
})
