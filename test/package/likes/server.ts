/** Likes: their routes, a like by the author in the commit that creates a record, and their removal with the record. */
import { and, count, eq, or } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { defineAutoApiPlugin, type AutoApiContext } from 'nuxt-auto-api/define'
import { apiError, assertNames, assertOptions, isNames, objectOf, uuidv7, type OptionRules } from 'nuxt-auto-api/kit'
import { atomicWrites, findAuthorizedRow, getDatabase, reportChanges } from 'nuxt-auto-api/utils'
import { likes as table } from './schema'

export interface LikesOptions {
  /** The resources whose records can be liked. */
  readonly resources: readonly string[]
}

const RULES: OptionRules<LikesOptions> = { resources: { fits: isNames, use: 'a list of resource names', required: true } }
const LIKES = objectOf({ likes: { type: 'integer' }, liked: { type: 'boolean' } })

export const likes = defineAutoApiPlugin({ from: '~~/likes/server', name: 'likes' }, (options: LikesOptions) => {
  assertOptions(options, RULES, 'likes')
  const { resources } = options
  let hasTrash = (_resource: string) => false
  const route = { resources, operation: 'read', parameters: [] } as const
  return {
    name: 'likes',
    setup(server) {
      assertNames(resources, [...server.resources.keys()], 'likes.resources')
      hasTrash = resource => server.resources.get(resource)!.deletedAt !== undefined
    },
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
      await (getDatabase(ctx.event) as BetterSQLite3Database).delete(table).where(or(...of))
    },
    routes: [
      {
        ...route, method: 'GET', path: '/:resource/:id/likes',
        describe: { summary: 'How many users like a record', responses: { 200: { schema: LIKES } } },
        async handler(ctx) {
          await findAuthorizedRow(ctx, ctx.resource, ctx.params.id!)
          return countLikes(ctx)
        },
      },
      {
        ...route, method: 'PUT', path: '/:resource/:id/likes',
        describe: { summary: 'Like a record', responses: { 200: { schema: LIKES } } },
        async handler(ctx) {
          const user = requireUser(ctx)
          await findAuthorizedRow(ctx, ctx.resource, ctx.params.id!)
          const row = { id: uuidv7(), resource: ctx.resource, recordId: ctx.params.id!, userId: user, createdAt: new Date() }
          await atomicWrites<BetterSQLite3Database>(ctx, [
            db => db.insert(table).values(row).onConflictDoNothing(),
            reportChanges(ctx, [{ resource: 'likes', kind: 'create', id: row.id }]),
          ])
          return countLikes(ctx)
        },
      },
      {
        ...route, method: 'DELETE', path: '/:resource/:id/likes',
        describe: { summary: 'Do not like a record any more', responses: { 200: { schema: LIKES } } },
        async handler(ctx) {
          const user = requireUser(ctx)
          await findAuthorizedRow(ctx, ctx.resource, ctx.params.id!)
          await (getDatabase(ctx.event) as BetterSQLite3Database).delete(table).where(and(ofRecord(ctx), eq(table.userId, user)))
          return countLikes(ctx)
        },
      },
    ],
  }
})

const ofRecord = ({ resource, params }: AutoApiContext) => and(eq(table.resource, resource), eq(table.recordId, params.id!))

function requireUser({ user }: AutoApiContext): string {
  if (!user) throw apiError('UNAUTHENTICATED', 'Sign in to like records.')
  return String(user.id)
}

async function countLikes(ctx: AutoApiContext): Promise<{ likes: number, liked: boolean }> {
  const db = getDatabase(ctx.event) as BetterSQLite3Database
  const [all] = await db.select({ likes: count() }).from(table).where(ofRecord(ctx))
  const own = ctx.user && await db.select({ likes: count() }).from(table).where(and(ofRecord(ctx), eq(table.userId, String(ctx.user.id))))
  return { likes: all!.likes, liked: (own?.[0]?.likes ?? 0) > 0 }
}
