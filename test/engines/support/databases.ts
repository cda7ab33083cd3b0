/** The engines that the suite runs on. Each opens an empty database of its own and removes it at the end. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createClient, type InArgs } from '@libsql/client'
import BetterSqlite3 from 'better-sqlite3'
import { drizzle as betterSqlite3 } from 'drizzle-orm/better-sqlite3'
import { drizzle as d1 } from 'drizzle-orm/d1'
import { drizzle as libsql } from 'drizzle-orm/libsql'
import { drizzle as mysql2 } from 'drizzle-orm/mysql2'
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres'
import { drizzle as pglite } from 'drizzle-orm/pglite'
import { drizzle as postgresJs } from 'drizzle-orm/postgres-js'
import { createConnection, createPool } from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import type { EngineName } from '../../../src/runtime/server/engines/index'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { openD1 as openLocalD1 } from '../../support/d1'
import { SQLITE_HABITS, type Habits } from '../../support/oracle/values'
import { isReachable, SERVICES } from '../../support/services'
import { TestPool } from './test-pool'
import { isFull } from '../../support/tiers'

/** A statement as it went through Drizzle. */
export interface Sent {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface OpenOptions {
  /** Milliseconds that the pool's connections wait for a lock; 0 on Postgres is for ever. */
  readonly lockTimeout?: number
}

export interface Opened {
  /** The Drizzle database that an app would pass to the module. */
  readonly db: object
  /** Runs SQL without the module. */
  readonly exec: (sql: string) => Promise<void>
  readonly all: (sql: string, values?: readonly unknown[]) => Promise<unknown[][]>
  /** The statements that went through Drizzle since the last call. */
  readonly statements: () => string[]
  /** The same, with their parameters. */
  readonly sent: () => Sent[]
  /** Another connection begins a transaction, runs the SQL in it and holds its locks until the returned function ends the transaction. */
  readonly openTransaction: (sql: string) => Promise<(end?: 'commit' | 'rollback') => Promise<void>>
  readonly close: () => Promise<void>
}

export interface EngineCase {
  /** The name in the table of results. */
  readonly name: string
  readonly engine: EngineName
  readonly dialect: Dialect
  /** The service that must run. */
  readonly service?: string
  /** Cases of each property test. */
  readonly runs: number
  /** Sequences of writes, where every statement takes milliseconds. */
  readonly writeRuns?: number
  /** More than one request can be in the middle of a commit. */
  readonly pooled: boolean
  /** Where the results differ from other engines, as these databases are configured. */
  readonly habits: Habits
  readonly open: (options?: OpenOptions) => Promise<Opened>
}

const POOL = 12

function createLog() {
  const log: Sent[] = []
  const sent = () => log.splice(0)
  return {
    logger: { logQuery: (text: string, values: unknown[]) => void log.push({ text, values }) },
    seen: { sent, statements: () => sent().map(({ text }) => text) },
  }
}

/** @param exec runs SQL on a connection that nothing else uses */
const openTransactionWith = (exec: Opened['exec']) => async (sql: string) => {
  await exec('begin')
  await exec(sql)
  return (end: 'commit' | 'rollback' = 'rollback') => exec(end)
}

const noOtherConnection = () => Promise.reject(new Error('There is no other connection to this database.'))

async function openSqlite(): Promise<Opened> {
  const client = new BetterSqlite3(':memory:')
  const { logger, seen } = createLog()
  return {
    db: betterSqlite3({ client, logger }),
    exec: async sql => void client.exec(sql),
    all: async (sql, values = []) => client.prepare(sql).raw().all(values) as unknown[][],
    openTransaction: noOtherConnection,
    ...seen,
    close: async () => void client.close(),
  }
}

async function openLibsql(): Promise<Opened> {
  const file = join(tmpdir(), `engines-${randomUUID()}.db`)
  const client = createClient({ url: `file:${file}` })
  const { logger, seen } = createLog()
  await client.execute('pragma journal_mode = wal')
  return {
    db: libsql({ client, logger }),
    exec: sql => client.executeMultiple(sql),
    all: async (sql, values = []) =>
      (await client.execute({ sql, args: values as InArgs })).rows.map(row => Array.from(row as ArrayLike<unknown>)),
    async openTransaction(sql) {
      const other = createClient({ url: `file:${file}` })
      const transaction = await other.transaction('write')
      await transaction.executeMultiple(sql)
      return async (end = 'rollback') => {
        await transaction[end]()
        other.close()
      }
    },
    ...seen,
    async close() {
      client.close()
      for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
    },
  }
}

async function openD1(): Promise<Opened> {
  const local = await openLocalD1()
  const { logger, seen } = createLog()
  return {
    db: d1(local.d1 as never, { logger }),
    exec: local.exec,
    all: local.rows,
    openTransaction: noOtherConnection,
    ...seen,
    close: local.close,
  }
}

async function openPglite(): Promise<Opened> {
  const client = new PGlite()
  const { logger, seen } = createLog()
  return {
    db: pglite({ client, logger }),
    exec: async sql => void await client.exec(sql),
    all: async (sql, values = []) => (await client.query(sql, [...values], { rowMode: 'array' })).rows as unknown[][],
    openTransaction: noOtherConnection,
    ...seen,
    close: () => client.close(),
  }
}

const POSTGRES = { host: '127.0.0.1', port: 5432, user: 'postgres' }

/** PgBouncer in transaction mode: each transaction can run on another connection of the server. */
const PGBOUNCER = { ...POSTGRES, port: 6432 }

/** A database whose text is ordered by its bytes, whatever language the server was set up with. */
async function createPostgres() {
  const database = `engines_${randomUUID().replaceAll('-', '')}`
  const admin = new pg.Client({ ...POSTGRES, database: 'test' })
  await admin.connect()
  await admin.query(`create database ${database} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`)
  // Tests do not survive a crash of the server: a commit need not wait for the disk.
  await admin.query(`alter database ${database} set synchronous_commit = off`)
  const client = new pg.Client({ ...POSTGRES, database })
  await client.connect()
  return {
    database,
    exec: async (sql: string) => void (await client.query(sql)),
    all: async (text: string, values: readonly unknown[] = []) =>
      (await client.query({ text, values: [...values], rowMode: 'array' })).rows as unknown[][],
    openTransaction: openTransactionWith(async sql => void (await client.query(sql))),
    async close() {
      await client.end()
      // A pool says it has ended before its last connection is gone: killing that one would be an error nobody catches.
      for (let attempt = 1; ; attempt++) {
        const { rows } = await admin.query('select count(*)::int as n from pg_stat_activity where datname = $1', [database])
        if (rows[0].n === 0 || attempt === 100) break
        await new Promise(resolve => setTimeout(resolve, 20))
      }
      await admin.query(`drop database ${database} with (force)`)
      await admin.end()
    },
  }
}

/** A pooler does not pass on settings of a connection: the database has them. */
async function createBehindPooler({ lockTimeout = 0 }: OpenOptions) {
  const created = await createPostgres()
  await created.exec(`alter database ${created.database} set lock_timeout = ${lockTimeout}`)
  return created
}

type CreatedPostgres = Awaited<ReturnType<typeof createPostgres>>

function openPool({ database, close, ...rest }: CreatedPostgres, options: pg.PoolConfig): Opened {
  const pool = new TestPool({ ...options, database, max: POOL })
  const { logger, seen } = createLog()
  return {
    ...rest,
    db: nodePostgres({ client: pool, logger }),
    ...seen,
    async close() {
      await pool.end()
      await close()
    },
  }
}

function openPostgresJsPool({ database, close, ...rest }: CreatedPostgres, options: postgres.Options<Record<string, never>>): Opened {
  const client = postgres({ ...options, database, max: POOL, onnotice: () => {} })
  const { logger, seen } = createLog()
  return {
    ...rest,
    db: postgresJs({ client, logger }),
    ...seen,
    async close() {
      await client.end()
      await close()
    },
  }
}

const openNodePostgres = async ({ lockTimeout = 0 }: OpenOptions = {}) =>
  openPool(await createPostgres(), { ...POSTGRES, options: `-c lock_timeout=${lockTimeout}` })

const openNodePostgresBehindPooler = async (options: OpenOptions = {}) => openPool(await createBehindPooler(options), PGBOUNCER)

const openPostgresJs = async ({ lockTimeout = 0 }: OpenOptions = {}) =>
  openPostgresJsPool(await createPostgres(), { ...POSTGRES, connection: { lock_timeout: lockTimeout } })

// postgres.js names its statements by default. Before version 1.21, PgBouncer does not pass them on in transaction mode.
const openPostgresJsBehindPooler = async (options: OpenOptions = {}) =>
  openPostgresJsPool(await createBehindPooler(options), { ...PGBOUNCER, prepare: false })

const MARIADB = { host: '127.0.0.1', port: 3306, user: 'root' }

/** The second node: its generated keys are 2, 5, 8 and so on, because the other two generate keys at the same time. */
const GALERA = { ...MARIADB, port: 3312 }

async function openMysql2({ lockTimeout }: OpenOptions, server = MARIADB): Promise<Opened> {
  const database = `engines_${randomUUID().replaceAll('-', '')}`
  const admin = await createConnection({ ...server, multipleStatements: true })
  await admin.query(`create database ${database} character set utf8mb4 collate utf8mb4_nopad_bin; use ${database}`)
  // As with Postgres, a commit need not wait for the disk.
  await admin.query('set global innodb_flush_log_at_trx_commit = 0')
  const pool = createPool({ ...server, database, connectionLimit: POOL })
  // In whole seconds; without one it would wait for fifty.
  if (lockTimeout !== undefined)
    pool.on('connection', connection => void connection.query(`set innodb_lock_wait_timeout = ${Math.floor(lockTimeout / 1000)}`))
  const { logger, seen } = createLog()
  return {
    db: mysql2({ client: pool, logger }),
    exec: async sql => void await admin.query(sql),
    all: async (sql, values = []) => (await admin.query({ sql, values: [...values] as string[], rowsAsArray: true }))[0] as unknown[][],
    openTransaction: openTransactionWith(async sql => void await admin.query(sql)),
    ...seen,
    async close() {
      await pool.end()
      await admin.query(`drop database ${database}`)
      await admin.end()
    },
  }
}

/** The rest of the runs or cases belongs to `FULL=1`. */
const fewer = (runs: number, share = 5) => isFull ? runs : Math.ceil(runs / share)

/**
 * How many cases of a long table an engine runs: every first, second or fourth one. The others take longer, or share the dialect of one of
 * these. Postgres and MariaDB run different halves.
 */
const SAMPLES: Readonly<Record<string, { every: number, from: number }>> = {
  'better-sqlite3': { every: 1, from: 0 },
  'node-postgres': { every: 2, from: 0 },
  'mysql2 on MariaDB': { every: 2, from: 1 },
}

/** The cases that an engine runs: with `FULL=1` all of them. */
export const sampleFor = <T>({ name }: EngineCase, cases: readonly T[]): readonly T[] => {
  const { every, from } = SAMPLES[name] ?? { every: 4, from: 0 }
  return isFull || cases.length <= every ? cases : cases.filter((_, index) => index % every === from)
}

/** The letters are those of `lc_ctype`, which PGlite sets to C.UTF-8. */
const POSTGRES_HABITS: Habits = { nulls: 'high', letters: 'ASCII' }
const MYSQL_HABITS: Habits = { nulls: 'low', letters: 'all' }

const CASES: readonly EngineCase[] = [
  { name: 'better-sqlite3', engine: 'better-sqlite3', dialect: 'sqlite', runs: 50, pooled: false, habits: SQLITE_HABITS, open: openSqlite },
  { name: 'libsql', engine: 'libsql', dialect: 'sqlite', runs: fewer(50), pooled: true, habits: SQLITE_HABITS, open: openLibsql },
  { name: 'd1', engine: 'd1', dialect: 'sqlite', runs: 50, writeRuns: 5, pooled: false, habits: SQLITE_HABITS, open: openD1 },
  {
    name: 'pglite',
    engine: 'postgres',
    dialect: 'pg',
    runs: fewer(50),
    pooled: false,
    habits: { ...POSTGRES_HABITS, letters: 'all' },
    open: openPglite,
  },
  {
    name: 'node-postgres',
    engine: 'postgres',
    dialect: 'pg',
    service: 'postgres',
    runs: fewer(200, 4),
    writeRuns: fewer(200, 8),
    pooled: true,
    habits: POSTGRES_HABITS,
    open: openNodePostgres,
  },
  {
    name: 'postgres.js',
    engine: 'postgres',
    dialect: 'pg',
    service: 'postgres',
    runs: fewer(50),
    pooled: true,
    habits: POSTGRES_HABITS,
    open: openPostgresJs,
  },
  {
    name: 'mysql2 on MariaDB',
    engine: 'mysql',
    dialect: 'mysql',
    service: 'mariadb',
    runs: fewer(200, 4),
    writeRuns: fewer(200, 8),
    pooled: true,
    habits: MYSQL_HABITS,
    open: (options = {}) => openMysql2(options),
  },
]

/** The engines behind a pooler or in a cluster. They run the tests of connections: transactions, locks and statements. */
const CONNECTION_ONLY: readonly EngineCase[] = [
  {
    name: 'node-postgres behind PgBouncer',
    engine: 'postgres',
    dialect: 'pg',
    service: 'pgbouncer',
    runs: fewer(50),
    pooled: true,
    habits: POSTGRES_HABITS,
    open: openNodePostgresBehindPooler,
  },
  {
    name: 'postgres.js behind PgBouncer',
    engine: 'postgres',
    dialect: 'pg',
    service: 'pgbouncer',
    runs: fewer(50),
    pooled: true,
    habits: POSTGRES_HABITS,
    open: openPostgresJsBehindPooler,
  },
  {
    name: 'mysql2 on Galera',
    engine: 'mysql',
    dialect: 'mysql',
    service: 'galera',
    runs: fewer(50),
    pooled: true,
    habits: MYSQL_HABITS,
    open: (options = {}) => openMysql2(options, GALERA),
  },
]

const reachable = new Set(
  (await Promise.all(SERVICES.map(async service => ((await isReachable(service)) ? service.name : '')))).filter(Boolean),
)

/** On push these engines run every test: one of each dialect, and D1. Without a server, PGlite stands for Postgres. */
const ON_PUSH: readonly string[] = ['better-sqlite3', 'd1', reachable.has('postgres') ? 'node-postgres' : 'pglite', 'mysql2 on MariaDB']

/** Only these, such as `ENGINE=pglite` or `ENGINE=better-sqlite3,libsql`. */
const CHOSEN = process.env.ENGINE?.split(',')

const isChosen = ({ name }: EngineCase) => CHOSEN?.some(part => name.includes(part)) ?? true

const isInTier = ({ name }: EngineCase) => isFull || CHOSEN !== undefined || ON_PUSH.includes(name)

/** Every engine and driver. On push, for the tests of what a driver does: `suite` and `values`. */
export const DRIVER_CASES = CASES.filter(isChosen)

const EVERY_CASE = [...CASES, ...CONNECTION_ONLY].filter(isChosen)

/** The same, and in the full tier those behind a pooler or in a cluster. */
export const SUITE_CASES = isFull || CHOSEN ? EVERY_CASE : DRIVER_CASES

/** The engines that run all tests. */
export const ENGINE_CASES = (CHOSEN ? EVERY_CASE : DRIVER_CASES).filter(isInTier)

/** The same, and in the full tier those behind a pooler or in a cluster, for the tests of connections. */
export const CONNECTION_CASES = EVERY_CASE.filter(isInTier)

export const isAvailable = ({ service }: EngineCase) => service === undefined || reachable.has(service)
