/** A database on the three nodes of a Galera cluster. Each node accepts writes, and has those of the others a moment later. */
import { randomUUID } from 'node:crypto'
import { drizzle } from 'drizzle-orm/mysql2'
import { createConnection, createPool } from 'mysql2/promise'
import { isReachable, SERVICES } from '../../support/services'
import type { EngineCase, Opened } from './databases'

export const NODES = [3311, 3312, 3313]

export const hasCluster = await isReachable(SERVICES.find(({ name }) => name === 'galera')!)

export interface Cluster {
  readonly nodes: readonly Opened[]
  /** Runs SQL on the first node, and waits until all nodes have it. */
  readonly exec: (sql: string) => Promise<void>
  /** Waits until all nodes have everything. */
  readonly sync: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * @param schema the SQL of the tables
 * @param syncWait whether the reads of the API wait until their node has everything that was committed before
 */
export async function openCluster(schema: string, syncWait = false): Promise<Cluster> {
  const database = `cluster_${randomUUID().replaceAll('-', '')}`
  const login = (port: number) => ({ host: '127.0.0.1', port, user: 'root', multipleStatements: true })
  const first = await createConnection(login(NODES[0]!))
  await first.query(`create database ${database} character set utf8mb4 collate utf8mb4_nopad_bin; use ${database}; ${schema}`)
  const nodes = await Promise.all(NODES.map(port => openNode({ ...login(port), database }, syncWait)))
  const sync = async () => void await Promise.all(nodes.map(({ sync }) => sync()))
  await sync()
  return {
    nodes: nodes.map(({ opened }) => opened),
    async exec(sql) {
      await first.query(sql)
      await sync()
    },
    sync,
    async close() {
      for (const { opened } of nodes) await opened.close()
      await first.query(`drop database ${database}`)
      await first.end()
    },
  }
}

async function openNode(login: { readonly port: number, readonly user: string, readonly database: string }, syncWait: boolean) {
  const admin = await waitForDatabase(login)
  const pool = createPool({ ...login, multipleStatements: false, connectionLimit: 12 })
  if (syncWait) pool.on('connection', connection => connection.query('set session wsrep_sync_wait = 1'))
  const log: { text: string, values: readonly unknown[] }[] = []
  const logger = { logQuery: (text: string, values: unknown[]) => void log.push({ text, values }) }
  const sent = () => log.splice(0)
  const opened: Opened = {
    db: drizzle({ client: pool, logger }),
    exec: async sql => void await admin.query(sql),
    all: async (sql, values = []) => (await admin.query({ sql, values: [...values] as string[], rowsAsArray: true }))[0] as unknown[][],
    openTransaction: async (sql) => {
      await admin.query('begin')
      await admin.query(sql)
      return async (end = 'rollback') => void await admin.query(end)
    },
    sent,
    statements: () => sent().map(({ text }) => text),
    async close() {
      await pool.end()
      await admin.end()
    },
  }
  return { opened, sync: () => admin.query('select 1') }
}

/** A new database is on the other nodes a moment later. The connection waits with each statement until its node has everything. */
async function waitForDatabase(login: { readonly port: number, readonly user: string, readonly database: string }) {
  const { database, ...server } = login
  const admin = await createConnection(server)
  await admin.query('set session wsrep_sync_wait = 15')
  await admin.query(`use ${database}`).catch(async () => {
    await admin.query('select 1')
    await admin.query(`use ${database}`)
  })
  return admin
}

/** The cluster as one database, for worlds of several servers: each time that `db` is read, it is that of the next node. */
export const clusterCase = (cluster: Cluster): EngineCase => ({
  name: 'Galera', engine: 'mysql', dialect: 'mysql', runs: 0, pooled: true, habits: { nulls: 'low', letters: 'all' },
  async open() {
    let next = 0
    return Object.defineProperty({ ...cluster.nodes[0]!, exec: cluster.exec, close: async () => {} }, 'db', {
      get: () => cluster.nodes[next++ % cluster.nodes.length]!.db,
    })
  },
})
