import { and, eq, inArray, ne, or, sql } from 'drizzle-orm'
import { articles } from '../database/schema'

/** A condition that no row meets. */
const nobody = sql`1 = 0`

const has = (ctx: { permissions: readonly string[] }, ...policies: string[]) =>
  policies.some(policy => ctx.permissions.includes(policy))

export default defineResource(articles, {
  permissions: {
    read: true,
    create: ['policy:content-editors', 'policy:writers'],
    update: ['policy:content-editors', 'policy:writers'],
    delete: ['policy:content-editors', 'policy:writers'],
  },
  listFilter: (table, ctx) => {
    if (ctx.operation === 'update' || ctx.operation === 'restore') {
      if (has(ctx, '*', 'policy:content-editors')) return undefined
      return or(
        has(ctx, 'policy:writers') ? and((ctx.user ? eq(table.createdBy, ctx.user.id) : nobody), inArray(table.status, ['draft', 'review']))! : undefined,
      ) ?? nobody
    }
    if (ctx.operation === 'delete' || ctx.operation === 'purge') {
      if (has(ctx, '*')) return undefined
      return or(
        has(ctx, 'policy:content-editors') ? ne(table.status, 'published') : undefined,
      ) ?? nobody
    }
    if (has(ctx, '*', 'policy:content-editors')) return undefined
    return or(
      eq(table.status, 'published'),
      has(ctx, 'policy:writers') ? (ctx.user ? eq(table.createdBy, ctx.user.id) : nobody) : undefined,
    ) ?? nobody
  },
  fields: {
    status: { read: 'policy:content-editors', write: 'policy:content-editors' },
    cover: { read: 'policy:content-editors', write: 'policy:content-editors' },
    author: { write: ctx => (ctx.operation !== 'update' || has(ctx, 'policy:content-editors')) },
    createdBy: { read: 'policy:content-editors', write: 'policy:content-editors' },
    createdAt: { read: 'policy:content-editors', write: 'policy:content-editors' },
  },
})
