import { and, eq, inArray, ne, or, sql } from 'drizzle-orm'
import { articles } from '../database/schema'

/** A condition that no row meets. */
const nobody = sql`1 = 0`

const has = (ctx: { permissions: readonly string[] }, ...policies: string[]) =>
  policies.some(policy => ctx.permissions.includes(policy))

export default defineResource(articles, {
  permissions: {
    read: true,
    create: ['content-editors', 'writers'],
    update: ['content-editors', 'writers'],
    delete: ['content-editors', 'writers'],
  },
  listFilter: (table, ctx) => {
    if (ctx.operation === 'update' || ctx.operation === 'restore') {
      if (has(ctx, '*', 'content-editors')) return undefined
      return or(
        has(ctx, 'writers') ? and((ctx.user ? eq(table.createdBy, ctx.user.id) : nobody), inArray(table.status, ['draft', 'review']))! : undefined,
      ) ?? nobody
    }
    if (ctx.operation === 'delete' || ctx.operation === 'purge') {
      if (has(ctx, '*')) return undefined
      return or(
        has(ctx, 'content-editors') ? ne(table.status, 'published') : undefined,
      ) ?? nobody
    }
    if (has(ctx, '*', 'content-editors')) return undefined
    return or(
      eq(table.status, 'published'),
      has(ctx, 'writers') ? (ctx.user ? eq(table.createdBy, ctx.user.id) : nobody) : undefined,
    ) ?? nobody
  },
  fields: {
    status: { read: 'content-editors', write: 'content-editors' },
    cover: { read: 'content-editors', write: 'content-editors' },
    author: { write: ctx => (ctx.operation !== 'update' || has(ctx, 'content-editors')) },
    createdBy: { read: 'content-editors', write: 'content-editors' },
    createdAt: { read: 'content-editors', write: 'content-editors' },
  },
})
