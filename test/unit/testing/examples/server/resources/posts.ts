import { eq } from 'drizzle-orm'
import { defineResource } from 'nuxt-auto-api/define'
import { posts } from '../database/schema'

const READS = new Set(['read', 'aggregate', 'viewDeleted'])

export default defineResource(posts, {
  permissions: { read: true, create: 'editor', update: 'editor', delete: 'editor' },
  // Everybody reads the posts of their organization. Editors change only their own.
  listFilter: (table, ctx) => READS.has(ctx.operation) ? undefined : eq(table.authorId, Number(ctx.user?.id)),
  fields: { margin: { read: 'editor', write: 'editor' } },
})
