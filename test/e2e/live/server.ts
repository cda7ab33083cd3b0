/**
 * A process that serves notes with streams, as one of several servers: the driver and the channel are arguments. Nitro's own code stops it
 * if `LIVE_STOP` names its file.
 */
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres'
import { integer, pgTable, serial, text } from 'drizzle-orm/pg-core'
import { drizzle as postgresJs } from 'drizzle-orm/postgres-js'
import { Redis } from 'ioredis'
import pg from 'pg'
import postgres from 'postgres'
import { live } from '../../../src/runtime/plugins/live/index.ts'
import { beginAtSignal, waitForWork } from '../../../src/runtime/server/nitro/stop.ts'
import { serveApi } from '../../../src/runtime/testing/api/serve.ts'

const { LIVE_URL: url = '', LIVE_TABLE: table = '', LIVE_DRIVER: driver, LIVE_CHANNEL: channel, LIVE_REDIS: name, LIVE_STOP: stop } = process.env
const { LIVE_SECRET: secret = 'one secret of all servers', LIVE_PREVIOUS: previousSecret } = process.env

const notes = pgTable(table, { id: serial('id').primaryKey(), text: text('text').notNull(), team: integer('team').notNull().default(1) })

function open() {
  if (driver === 'postgres-js') return postgresJs({ client: postgres(url, { max: 3, onnotice: () => {}, prepare: !url.includes(':6432') }) })
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  pool.on('error', () => {})
  return nodePostgres({ client: pool })
}

const redis = channel === 'redis' ? new Redis(6379, '127.0.0.1', { connectionName: name }) : undefined
redis?.on('error', () => {})

const { api, listen } = await serveApi({
  registrations: [{ name: 'notes', schema: notes, authorization: { permissions: { read: true, create: true, update: true, delete: true } } }],
  modules: [{ notes }],
  plugins: [{ where: 'plugins', listed: () => live({ channel: redis ? { redis: redis as never } : 'postgres', maxStreamsPerCaller: 100 }) }],
  builtPlugins: 'all',
  useRuntimeConfig: () => ({ autoApi: { secret, previousSecret } }),
  db: open(),
  engine: 'postgres',
})
await api.whenReady()
const close: (() => unknown)[] = []
const plugins = api.listeners.onStop
waitForWork({ hooks: { hook: (_name, run) => close.push(run) } }, () => plugins)
const { url: address, listener } = await listen()
beginAtSignal(plugins)
if (stop) {
  const { default: stopGracefully } = await import(stop) as { default: (listener: unknown, options: object) => void }
  stopGracefully(listener, {
    signals: 'SIGTERM SIGINT', timeout: 300_000, forceExit: true,
    onShutdown: async () => {
      for (const run of close) await run()
    },
  })
}
process.stdout.write(`listens ${address}\n`)
