/** A newspaper for the tests of live updates: rows of teams, links, trash, fields that not everyone reads, a rule in code. */
import { eq, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { live } from '../../../src/runtime/plugins'
import type { LiveOptions } from '../../../src/runtime/plugins/live/options'
import { EVERYTHING, openWorld, type World, type WorldOptions } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  team: integer('team').notNull(),
  /** Only editors read it. */
  note: text('note'),
  /** Nobody reads it. */
  secret: text('secret'),
  published: integer('published', { mode: 'boolean' }).default(true),
  at: integer('at', { mode: 'timestamp_ms' }),
  data: text('data', { mode: 'json' }),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id, { onDelete: 'cascade' }),
  text: text('text').notNull(),
})
export const tags = sqliteTable('tags', { id: text('id').primaryKey(), name: text('name').notNull(), hidden: integer('hidden', { mode: 'boolean' }) })
export const postTags = sqliteTable('post_tags', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').notNull().references(() => posts.id, { onDelete: 'cascade' }),
  tagId: text('tag_id').notNull().references(() => tags.id, { onDelete: 'cascade' }),
})
/** A rule in code decides about each row. */
export const drafts = sqliteTable('drafts', { id: integer('id').primaryKey(), owner: integer('owner').notNull(), text: text('text') })

export const EDITOR: Caller = { user: { id: 1, team: 1 }, permissions: ['editor'] }
export const READER: Caller = { user: { id: 2, team: 1 } }
export const OTHER: Caller = { user: { id: 3, team: 2 } }
export const ANYONE: Caller = { user: null }

const ROWS = `insert into posts (id, title, team, published) values (1, 'One', 1, 1), (2, 'Two', 2, 1), (3, 'Draft', 1, 0);
  insert into comments values (1, 1, 'first'), (2, 2, 'second'); insert into tags values ('a', 'A', 0), ('b', 'B', 1);
  insert into drafts values (1, 2, 'mine'), (2, 3, 'theirs')`

export function openFeed(options: LiveOptions = {}, { resources, ...world }: Partial<WorldOptions> = {}): Promise<World> {
  return openWorld({
    tables: { posts, comments, tags, postTags, drafts },
    resources: {
      posts: {
        authorization: {
          permissions: { ...EVERYTHING, read: ctx => ctx.user !== null },
          listFilter: (table, ctx) => {
            const { team, published } = table as typeof posts
            return ctx.permissions.includes('editor')
              ? eq(team, Number(ctx.user!.team))
              : sql`${team} = ${Number(ctx.user?.team ?? 0)} and ${published} = 1`
          },
          fields: { note: { read: 'editor', write: true } } as never,
        },
        hiddenFields: ['secret'],
      },
      tags: {
        authorization: {
          permissions: EVERYTHING,
          listFilter: (table, ctx) => ctx.permissions.includes('editor') ? undefined : sql`coalesce(${(table as typeof tags).hidden}, 0) = 0`,
        },
      },
      postTags: false,
      drafts: { authorization: { permissions: EVERYTHING, objectLevel: (row, ctx) => (row as { owner: number }).owner === ctx.user?.id } },
      ...resources,
    },
    rows: ROWS,
    config: { m2m: { autoDetect: true, relations: { postTags: ['posts', 'tags'] } } } as never,
    plugins: [live(options)],
    ...world,
  })
}

export interface LiveEvent {
  readonly id?: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Listener {
  readonly status: number
  readonly headers: Headers
  /** The events that have arrived. */
  readonly events: LiveEvent[]
  /** Returns the signals since the last call, sorted, after the server has sent those of every commit before. */
  readonly signals: () => Promise<readonly string[]>
  readonly waitFor: (event: string) => Promise<LiveEvent>
  readonly ended: () => boolean
  readonly close: () => void
}

export async function listen(
  world: Pick<World, 'fetch'>, resources: string, caller: Caller, headers: Record<string, string> = {},
): Promise<Listener> {
  const response = await world.fetch(new Request(`http://localhost/api/_live?resources=${resources}`, { headers }), caller)
  const events: LiveEvent[] = []
  let isEnded = false
  const reader = response.body!.getReader()
  const reading = read(reader, events).then(() => isEnded = true, () => isEnded = true)
  if (response.status !== 200) await reading
  let taken = 0
  const waitFor = async (name: string): Promise<LiveEvent> => {
    for (let tries = 0; tries < 300; tries++) {
      const found = events.find(({ event }) => event === name)
      if (found) return found
      await sleep(10)
    }
    throw new Error(`There was no event ${name}, only ${events.map(({ event }) => event).join(', ')}.`)
  }
  return {
    status: response.status, headers: response.headers, events, waitFor,
    async signals() {
      await sleep(150)
      const found = events.slice(taken).filter(({ event }) => event !== 'open')
      taken = events.length
      const texts = found.map(({ event, data }) => data.resource === undefined ? event : `${event} ${String(data.resource)} ${String(data.id)}`)
      return texts.sort()
    },
    ended: () => isEnded,
    close: () => void reader.cancel(),
  }
}

export const sleep = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, events: LiveEvent[]): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    text += decoder.decode(chunk.value, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n').map(line => line.split(/: ?(.*)/s) as [string, string])
      text = text.slice(end + 2)
      const { id, event, data } = Object.fromEntries(lines) as Record<string, string>
      if (event) events.push({ ...id && { id }, event, data: JSON.parse(data!) as Record<string, unknown> })
    }
  }
}
