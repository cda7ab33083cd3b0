/** Example of the docs page `plugins`: every part of a plugin. It records each change for a worker that sends it to other systems. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { lt, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { defineAutoApiPlugin, type AutoApiContext, type ModuleImport, type ResourceAuth, type Scan } from 'nuxt-auto-api/define'
import { apiError, getDatabase } from 'nuxt-auto-api/utils'
import type { events } from './schema'

export interface OutboxOptions {
  /** The table of the events. In nuxt.config, `createModuleImport(path, name)`. */
  readonly table: typeof events | ModuleImport
  /** The authorization of the events. */
  readonly authorization: ResourceAuth<typeof events> | ModuleImport
}

/** Emits `events` after each commit, so that a worker in this process does not have to poll. */
export const committed = new EventEmitter()

const WEEK = 7 * 24 * 60 * 60 * 1000
/** In milliseconds. */
const SLOW = 1000
const hash = (text: string) => createHash('sha256').update(text).digest()

export const outbox = defineAutoApiPlugin({ from: '~~/server/outbox', name: 'outbox' }, ({ table, authorization }: OutboxOptions) => {
  // The server receives the table. At build time, both options are references, which only `resources` uses.
  const own = table as typeof events
  const isWorker = (ctx: AutoApiContext) => ctx.user?.id === 'worker'
  let key: Buffer
  let scan: Scan

  return {
    name: 'outbox',
    buildSetup: () => console.info('outbox: the worker reads /api/events/stream'),
    resources: registry => registry.register('events', {
      schema: table as ModuleImport, authorization: authorization as ModuleImport,
    }),
    setup(server) {
      const fields = server.resources.get('events')?.fields
      const missing = ['id', 'recordId', 'after', 'createdAt'].filter(name => !fields?.has(name))
      if (missing.length > 0) throw new Error(`outbox: \`events\` has no column ${missing.join(', ')}.`)
      if (!process.env.OUTBOX_KEY) throw new Error('outbox: set OUTBOX_KEY.')
      key = hash(process.env.OUTBOX_KEY)
      scan = server.scan
    },
    onRequest({ query }) {
      if (query.key !== undefined) throw apiError('KEY_IN_URL', 'Send the key in the header x-outbox-key.', { status: 400 })
    },
    credentials({ header }) {
      const sent = header('x-outbox-key')
      if (sent === undefined) return undefined
      if (!timingSafeEqual(hash(sent), key)) throw apiError('INVALID_KEY', 'This key is not valid.', { status: 401 })
      return { user: { id: 'worker' }, permissions: ['events'] }
    },
    rows: {
      events: (_table, ctx) => isWorker(ctx) ? undefined : sql`1 = 0`,
    },
    extendContext(ctx) {
      ctx.startedAt = performance.now()
    },
    onCaller(ctx, { method }) {
      if (isWorker(ctx) && method !== 'GET') throw apiError('READ_ONLY_KEY', 'This key can only read.', { status: 403 })
    },
    async around(ctx, next, { route }) {
      const response = await next()
      const { startedAt } = ctx as typeof ctx & { readonly startedAt: number }
      const time = performance.now() - startedAt
      if (time > SLOW) console.warn(`${route} took ${Math.round(time)} ms and read ${response.reads?.join(', ')}`)
      return isWorker(ctx) ? { ...response, headers: { ...response.headers, 'cache-control': 'no-store' } } : response
    },
    hooks: {
      '*': {
        beforePurge(_id, ctx) {
          if (!ctx.query.reason) throw apiError('REASON_REQUIRED', 'Add `?reason=` to a purge.', { status: 400 })
        },
      },
    },
    needs: { images: true },
    inCommit: (changes, ctx) => changes.filter(({ resource }) => resource !== 'events').map(rows =>
      rows.insertInto(own, {
        id: rows.uuid, kind: `${rows.resource ?? rows.table}.${rows.kind}`, recordId: rows.id, after: rows.after,
        userId: String(ctx.user?.id ?? ''), createdAt: new Date(),
      })),
    onCommit() {
      committed.emit('events')
    },
    routes: [{
      name: 'outbox',
      method: 'GET',
      path: '/:resource/stream',
      resources: ['events'],
      operation: 'read',
      async* handler(ctx) {
        for await (const records of scan(ctx, 'events', { sort: 'id' })) yield records.map(record => `${JSON.stringify(record)}\n`).join('')
      },
    }],
    tasks: {
      prune: {
        every: 60,
        async run({ due, event }) {
          const db = getDatabase(event) as BetterSQLite3Database
          await db.delete(own).where(lt(own.createdAt, new Date(due.getTime() - WEEK)))
        },
      },
    },
  }
})
