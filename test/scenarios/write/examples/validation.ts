/** The schemas of the docs page `writing`. */
import { defineResourceValidation } from 'nuxt-auto-api/define'
import { z } from 'zod'

const task = z.object({
  projectId: z.number().int(),
  title: z.string().trim().min(3),
  hours: z.number().int().min(1).max(80).default(8),
  notify: z.boolean().optional(), // not a column: only the hooks receive it
})

export const tasksValidation = defineResourceValidation({ create: task, update: task.partial() })
