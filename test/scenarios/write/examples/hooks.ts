/** The hooks of the docs page `hooks`. */
import { createError } from 'h3'
import { defineResourceHooks } from 'nuxt-auto-api/define'
import type { tasks } from './schema'

export const tasksHooks = defineResourceHooks<typeof tasks>({
  beforeCreate: (data, ctx) => ({ ...data, approved: ctx.permissions.includes('tasks:approve') }),
  beforeUpdate: (id, data) => {
    if (data.hours && data.hours > 40) throw createError({ statusCode: 409, message: `Task ${id} needs to be split.` })
  },
  afterGet: record => ({ ...record, label: `#${record.id} ${record.title}` }),
})
