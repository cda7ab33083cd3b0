/** Mistakes that make responses depend on what the caller cannot see, without showing it. Each is a plugin, or a computed field. */
import type { Database } from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { createError, setResponseHeader, type H3Event } from 'h3'
import { computed, defineAutoApiPlugin } from '../../../src/runtime/server/define'
import type { AutoApiPlugin } from '../../../src/runtime/server/plugin/contract'

interface Body {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly meta: { readonly total?: number, readonly nextCursor?: string | null }
}

interface Planted {
  readonly plugin?: (client: Database) => Omit<AutoApiPlugin, 'name'>
  /** Changes the registration of `posts`. */
  readonly posts?: object
  /** The paths of the requests that are sent, so that the test is short. */
  readonly only: RegExp
  /** What the message contains. */
  readonly found: RegExp
}

/** Changes the body of lists. */
const ofLists = (change: (body: Body, client: Database) => unknown): Planted['plugin'] => client => ({
  around: async (ctx, next, { route }) => {
    const response = await next()
    if (route !== 'list' || ctx.resource !== 'posts' || response.status !== 200) return response
    const { status, headers } = response
    const body = JSON.parse(JSON.stringify(response.body)) as Body
    return { status, ...headers && { headers }, body: change(body, client) }
  },
})

const count = (client: Database, table: string) => client.prepare(`select count(*) from ${table}`).pluck().get() as number

export const PLANTED: Readonly<Record<string, Planted>> = {
  'a total counts every row': {
    only: /^\/posts$/,
    plugin: ofLists((body, client) => ({ ...body, meta: { ...body.meta, ...body.meta.total !== undefined && { total: count(client, 'posts') } } })),
    found: /GET \/posts as reader: the (?:body|header `etag`) differs after `posts \d+: (?:inserted|deleted)`/,
  },
  'a computed field counts every row': {
    only: /^\/posts/,
    posts: { computed: { siblings: computed.integer(() => sql`(select count(*) from comments)`, { tracks: ['comments'] }) } },
    found: /GET \/posts.* as reader: .* after `comments \d+: (?:inserted|deleted)`/,
  },
  'a list is sorted by a column that the caller cannot read': {
    only: /ranking$/,
    plugin: client => ({
      routes: [{
        method: 'GET', path: '/:resource/ranking', resources: ['posts'], operation: 'read',
        handler: () => client.prepare('select id from posts where id in (1, 7) order by margin').pluck().all(),
      }],
    }),
    found: /GET \/posts\/ranking as reader: the body differs after `posts \d: margin = /,
  },
  'an entity tag covers a hidden column': {
    only: /^\/posts/,
    plugin: client => ({
      hooks: {
        posts: {
          afterGet: (record, ctx) => {
            const margin = client.prepare('select margin from posts where id = ?').pluck().get((record as { readonly id?: number }).id ?? 0)
            setResponseHeader(ctx.event as unknown as H3Event, 'etag', `"${String(margin)}"`)
            return record
          },
        },
      },
    }),
    found: /GET \/posts.* as reader: the (?:status|header `etag`) differs after `posts \d: margin = /,
  },
  'an error shows that a hidden row exists': {
    only: /cover$/,
    plugin: client => ({
      routes: [{
        method: 'GET', path: '/:resource/:id/cover', resources: ['posts'], operation: 'read',
        handler: (ctx) => {
          const row = client.prepare('select status from posts where id = ?').get(Number(ctx.params.id))
          throw createError({ statusCode: row ? 403 : 404, message: row ? 'You cannot see this post.' : 'There is no such record.' })
        },
      }],
    }),
    found: /GET \/posts\/\d+\/cover as reader: the status differs after `posts \d+: (?:inserted|deleted)`/,
  },
  'a cursor contains the position among all rows': {
    only: /^\/posts$/,
    plugin: ofLists((body, client) => typeof body.meta.nextCursor === 'string'
      ? { ...body, meta: { ...body.meta, nextCursor: `${body.meta.nextCursor}${'A'.repeat(count(client, 'posts'))}` } }
      : body),
    found: /GET \/posts\?.*cursor=.* as reader: the (?:body|status|header `etag`) differs after `posts \d+: (?:inserted|deleted)`/,
  },
  'an include distinguishes a hidden record from a missing one': {
    only: /^\/postTags$/,
    plugin: client => ({
      around: async (ctx, next, { route }) => {
        const response = await next()
        if (route !== 'list' || ctx.resource !== 'postTags' || response.status !== 200) return response
        const body = JSON.parse(JSON.stringify(response.body)) as Body
        const isHidden = client.prepare('select 1 from posts where id = ? and deleted_at is null')
        const data = body.data.map(({ post, ...row }) =>
          post === null && isHidden.get(row.postId) ? row : { ...row, ...post !== undefined && { post } })
        return { status: response.status, body: { ...body, data } }
      },
    }),
    found: /GET \/postTags\?.*include=.* as reader: .* after `posts \d+: /,
  },
  'a write is refused because of a hidden row': {
    only: /^\/comments$/,
    plugin: client => ({
      around: async (_ctx, next, { route }) => {
        if (route === 'create' && count(client, 'comments') > 4) throw createError({ statusCode: 403, message: 'There are too many comments.' })
        return next()
      },
    }),
    found: /POST \/comments\?dryRun=true with .* as reader: the status differs after `comments \d+: inserted`/,
  },
}

/** The plugin of a mistake. */
export const plant = ({ plugin }: Planted) => (client: Database): AutoApiPlugin[] =>
  plugin ? [defineAutoApiPlugin({ name: 'mistake', ...plugin(client) })] : []
