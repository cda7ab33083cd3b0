/** Likes: their routes, a like by the author in the commit that creates a record, and their removal with the record. */
import { and, count, eq, or, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { defineAutoApiPlugin, type AutoApiContext, type PluginServer } from 'nuxt-auto-api/define'
import { apiError, assertNames, assertOptions, isNames, objectOf, provideAdmin, uuidv7, type OptionRules } from 'nuxt-auto-api/kit'
import { findAuthorizedRow, getDatabase } from 'nuxt-auto-api/utils'
import { likes as table } from './schema'

export interface LikesOptions {
  /** The resources whose records can be liked. */
  readonly resources: readonly string[]
}

declare module 'nuxt-auto-api/kit' {
  interface AdminFeatures { readonly likes?: true }
}

const RULES: OptionRules<LikesOptions> = { resources: { fits: isNames, use: 'a list of resource names', required: true } }
const LIKES = objectOf({ likes: { type: 'integer' }, liked: { type: 'boolean' } })

export const likes = defineAutoApiPlugin({ from: '~~/likes/server', name: 'likes' }, (options: LikesOptions) => {
  assertOptions(options, RULES, 'likes')
  const { resources } = options
  let server: PluginServer
  const hasTrash = (resource: string) => server.resources.get(resource)!.deletedAt !== undefined
  /** The record of the request, if the caller can see it. Some ids have several forms, such as a UUID in capital letters. */
  const findLiked = async (ctx: AutoApiContext): Promise<Liked> => {
    await findAuthorizedRow(ctx, ctx.resource, ctx.params.id!)
    return { resource: ctx.resource, recordId: server.resources.get(ctx.resource)!.canonicalId(ctx.params.id!)! }
  }
  const route = { resources, operation: 'read', parameters: [] } as const
  return {
    name: 'likes',
    setup(own) {
      server = own
      assertNames(resources, [...server.resources.keys()], 'likes.resources')
      provideAdmin(own, {
        features: (_session, { name }, { capabilities }) => resources.includes(name) && capabilities.canRead ? { likes: true } : {},
      })
    },
    // The routes below write likes by their own statements.
    unreported: ['likes'],
    disables: { likes: ['create', 'update', 'delete'] },
    // The author of a record likes it. The like is written if, and only if, the record is.
    inCommit: (changes, { user }) => user === null
      ? []
      : changes.filter(({ kind, resource = '' }) => kind === 'create' && resources.includes(resource)).map(rows =>
          rows.insertInto(table, {
            id: rows.uuid, resource: rows.resource!, recordId: rows.id, userId: String(user.id), createdAt: new Date(),
          })),
    async onCommit(changes, ctx) {
      const gone = changes.filter(({ kind, resource = '' }) =>
        resources.includes(resource) && (kind === 'purge' || (kind === 'delete' && !hasTrash(resource))))
      if (gone.length === 0) return
      const of = gone.map(({ resource, id }) => and(eq(table.resource, resource!), eq(table.recordId, id)))
      await databaseOf(ctx).delete(table).where(or(...of))
    },
    routes: [
      {
        ...route, method: 'GET', path: '/:resource/:id/likes',
        describe: { summary: 'How many users like a record', responses: { 200: { schema: LIKES } } },
        handler: async ctx => countLikes(ctx, await findLiked(ctx)),
      },
      {
        ...route, method: 'PUT', path: '/:resource/:id/likes',
        describe: { summary: 'Like a record', responses: { 200: { schema: LIKES } } },
        async handler(ctx) {
          const userId = requireUser(ctx)
          const liked = await findLiked(ctx)
          await databaseOf(ctx).insert(table).values({ id: uuidv7(), ...liked, userId, createdAt: new Date() }).onConflictDoNothing()
          return countLikes(ctx, liked)
        },
      },
      {
        ...route, method: 'DELETE', path: '/:resource/:id/likes',
        describe: { summary: 'Do not like a record any more', responses: { 200: { schema: LIKES } } },
        async handler(ctx) {
          const userId = requireUser(ctx)
          const liked = await findLiked(ctx)
          await databaseOf(ctx).delete(table).where(and(ofRecord(liked), eq(table.userId, userId)))
          return countLikes(ctx, liked)
        },
      },
    ],
  }
})

interface Liked {
  readonly resource: string
  readonly recordId: string
}

const databaseOf = ({ event }: AutoApiContext) => getDatabase(event) as BetterSQLite3Database

const ofRecord = ({ resource, recordId }: Liked) => and(eq(table.resource, resource), eq(table.recordId, recordId))

function requireUser({ user }: AutoApiContext): string {
  if (!user) throw apiError('UNAUTHENTICATED', 'Sign in to like records.')
  return String(user.id)
}

async function countLikes(ctx: AutoApiContext, liked: Liked): Promise<{ likes: number, liked: boolean }> {
  const own = ctx.user ? sql`count(case when ${table.userId} = ${String(ctx.user.id)} then 1 end)` : sql`0`
  const [counts] = await databaseOf(ctx).select({ likes: count(), own: own.mapWith(Number) }).from(table).where(ofRecord(liked))
  return { likes: counts!.likes, liked: counts!.own > 0 }
}
