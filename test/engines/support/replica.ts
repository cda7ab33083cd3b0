/** A Postgres database with its copy on the replica, which a test can hold back, cut off and bring back. */
import { randomUUID } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { drizzle } from 'drizzle-orm/node-postgres'
import { withReplicas } from 'drizzle-orm/pg-core'
import { drizzle as postgresJs } from 'drizzle-orm/postgres-js'
import pg from 'pg'
import postgres from 'postgres'
import { isReachable, SERVICES } from '../../support/services'
import { TestPool } from './test-pool'

const PRIMARY = { host: '127.0.0.1', port: 5432, user: 'postgres' }
const REPLICA = { ...PRIMARY, port: 5433 }

export const hasReplica = await isReachable(SERVICES.find(({ name }) => name === 'postgres_replica')!)

/** The connections of the API to the replica go through a proxy, so that a test does not have to stop the server. */
export interface Link {
  readonly port: number
  /** Ends all connections and refuses new ones. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Passes nothing on, as a network does that loses all packets. */
  readonly freeze: () => void
  /** The connections that exist now. */
  readonly count: () => number
}

export interface Replicated {
  readonly database: string
  readonly primary: object
  readonly replica: object
  /** The same databases with other connections, on Postgres with postgres.js. */
  readonly other: { readonly primary: object, readonly replica: object }
  /** The `withReplicas()` of Drizzle. */
  readonly withReplicas: () => object
  /** Whether a statement asks for a position. */
  readonly isPosition: (text: string) => boolean
  readonly link: Link
  /** Runs SQL on the primary, without the API. */
  readonly exec: (sql: string) => Promise<void>
  readonly all: (sql: string) => Promise<unknown[][]>
  /** The statements of the API since the last call, without those about positions. */
  readonly sent: () => { readonly primary: readonly string[], readonly replica: readonly string[] }
  /** All statements of the API since the last call. */
  readonly everything: () => { readonly primary: readonly string[], readonly replica: readonly string[] }
  /** Starts a new file of the primary's log, as an idle server does. */
  readonly rotateLog: () => Promise<void>
  /** Waits until the replica has everything. */
  readonly catchUp: () => Promise<void>
  /** The replica receives what is committed, but does not show it. */
  readonly pause: () => Promise<void>
  readonly resume: () => Promise<void>
  readonly close: () => Promise<void>
}

const POSITION = /pg_current_wal_insert_lsn|pg_last_wal_replay_lsn/

/** @param schema the SQL of the tables */
export async function openReplicated(schema: string): Promise<Replicated> {
  const database = `replicas_${randomUUID().replaceAll('-', '')}`
  const admin = new pg.Client({ ...PRIMARY, database: 'test' })
  await admin.connect()
  // The whole replica can be held back. No two files do that at the same time.
  await admin.query('select pg_advisory_lock(7239)')
  await admin.query(`create database ${database} template template0`)
  const client = new pg.Client({ ...PRIMARY, database })
  await client.connect()
  await client.query(schema)
  const observer = new pg.Client({ ...REPLICA, database: 'postgres' })
  await observer.connect()

  const catchUp = async () => {
    const { rows: [{ position }] } = await client.query('select pg_current_wal_flush_lsn()::text as position')
    for (let attempt = 0; attempt < 2_000; attempt++) {
      const { rows: [{ reached }] } = await observer.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as reached', [position])
      if (reached) return
      await new Promise(resolve => setTimeout(resolve, 10))
    }
    throw new Error('The replica does not catch up.')
  }
  await catchUp()

  const log = { primary: [] as string[], replica: [] as string[] }
  const loggerOf = (name: 'primary' | 'replica') => ({ logQuery: (text: string) => void log[name].push(text) })
  const link = await openLink(REPLICA.port)
  const pools = [new TestPool({ ...PRIMARY, database, max: 12 }), new TestPool({ ...REPLICA, port: link.port, database, max: 12 })] as const
  const clients = [
    postgres({ ...PRIMARY, database, onnotice: () => {} }),
    postgres({ ...REPLICA, port: link.port, database, onnotice: () => {} }),
  ] as const
  const primary = drizzle({ client: pools[0], logger: loggerOf('primary') })
  const replica = drizzle({ client: pools[1], logger: loggerOf('replica') })
  const everything = () => ({ primary: log.primary.splice(0), replica: log.replica.splice(0) })
  return {
    database,
    primary,
    replica,
    withReplicas: () => withReplicas(primary as never, [replica as never]) as object,
    isPosition: text => POSITION.test(text),
    other: {
      primary: postgresJs({ client: clients[0], logger: loggerOf('primary') }),
      replica: postgresJs({ client: clients[1], logger: loggerOf('replica') }),
    },
    link,
    exec: async sql => void await client.query(sql),
    all: async text => (await client.query({ text, rowMode: 'array' })).rows as unknown[][],
    sent() {
      const { primary, replica } = everything()
      const isOwn = (text: string) => !POSITION.test(text)
      return { primary: primary.filter(isOwn), replica: replica.filter(isOwn) }
    },
    everything,
    catchUp,
    rotateLog: async () => void await client.query('select pg_switch_wal()'),
    async pause() {
      await observer.query('select pg_wal_replay_pause()')
      for (;;) {
        const { rows: [{ state }] } = await observer.query('select pg_get_wal_replay_pause_state() as state')
        if (state === 'paused') return
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    },
    resume: async () => void await observer.query('select pg_wal_replay_resume()'),
    async close() {
      await observer.query('select pg_wal_replay_resume()')
      await link.stop()
      for (const pool of pools) await pool.end()
      for (const client of clients) await client.end({ timeout: 1 })
      await client.end()
      await observer.end()
      await admin.query(`drop database ${database} with (force)`)
      await admin.end()
    },
  }
}

/** @param target a port */
export async function openLink(target: number): Promise<Link> {
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((socket) => {
    const other = connect(target, '127.0.0.1')
    for (const [from, to] of [[socket, other], [other, socket]] as const) {
      sockets.add(from)
      from.on('data', chunk => void (isFrozen || to.write(chunk)))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as { port: number }
  return {
    port,
    async stop() {
      if (!server.listening) return
      const closed = new Promise(resolve => server.close(resolve))
      for (const socket of sockets) socket.resetAndDestroy()
      await closed
    },
    async start() {
      isFrozen = false
      if (!server.listening) await listen(port)
    },
    freeze: () => void (isFrozen = true),
    count: () => sockets.size / 2,
  }
}
