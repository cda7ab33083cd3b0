/** Example of the docs page `from-supabase`: the policies as a resource. */
import { createError } from 'h3'
import { and, eq, exists, or, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { defineResource } from 'nuxt-auto-api/define'
import { documents, members } from './schema'

const signedIn = (ctx: { user: object | null }) => ctx.user !== null
const nobody = sql`1 = 0`

/** The membership of a user in the team of a document. */
const membership = (table: typeof documents, userId: string) =>
  new QueryBuilder().select({ id: members.id }).from(members).where(and(eq(members.teamId, table.teamId), eq(members.userId, userId)))

export default defineResource(documents, {
  permissions: { read: true, create: signedIn, update: signedIn, delete: signedIn },
  listFilter: (table, ctx) => {
    const userId = ctx.user?.id as string | undefined
    const isMine = userId === undefined ? nobody : eq(table.authorId, userId)
    // Postgres combines the policies for select and for update, so the resource does too.
    const readable = or(eq(table.published, true), userId === undefined ? nobody : exists(membership(table, userId)))
    if (ctx.operation === 'update') return and(readable, isMine)
    if (ctx.operation === 'delete') return and(readable, isMine, eq(table.published, false))
    return readable
  },
  hooks: {
    beforeCreate: async (data, ctx) => {
      const userId = ctx.user!.id as string
      const isEditor = and(eq(members.teamId, data.teamId!), eq(members.userId, userId), eq(members.role, 'editor'))
      const db = ctx.db as NodePgDatabase
      const [editor] = await db.select({ id: members.id }).from(members).where(isEditor)
      if (!editor) throw createError({ statusCode: 403, message: 'Only editors of the team create documents.' })
      return { ...data, authorId: userId }
    },
  },
})
