import { eq, sql } from 'drizzle-orm'
import { defineResource } from 'nuxt-auto-api/define'
import { z } from 'zod'
import { tasks } from './schema'

const signedIn = (ctx: { user: object | null }) => ctx.user !== null

export default defineResource(tasks, {
  permissions: { read: signedIn, update: signedIn },
  listFilter: (table, ctx) => ctx.user ? eq(table.ownerId, Number(ctx.user.id)) : sql`1 = 0`,
  fields: { ownerId: { write: false } },
  validation: { update: z.object({ title: z.string().min(1).optional(), done: z.boolean().optional() }) },
})
