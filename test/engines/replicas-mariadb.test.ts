/** Replicas of MariaDB: several replication domains, and servers without positions. */
import { drizzle } from 'drizzle-orm/mysql2'
import { createPool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { isReachable, SERVICES } from '../support/services'
import { hasMariadbReplica, openMariadb } from './support/mariadb-replica'
import type { Replicated } from './support/replica'
import { createBrowser, createScript, MARIADB_POSTS_SQL, startServer } from './support/replicated-posts'

const hasMariadb = await isReachable(SERVICES.find(({ name }) => name === 'mariadb')!)

describe.skipIf(!hasMariadbReplica || !hasMariadb)('MariaDB', () => {
  let opened: Replicated
  let error: ReturnType<typeof vi.spyOn>

  beforeAll(async () => {
    opened = await openMariadb(MARIADB_POSTS_SQL)
  }, 240_000)
  afterAll(() => opened?.close())
  beforeEach(() => {
    error = vi.spyOn(console, 'error').mockImplementation(() => {})
  })
  afterEach(async () => {
    await opened.resume()
    await opened.catchUp()
    vi.restoreAllMocks()
  })

  it('reads own writes in every replication domain', async () => {
    for (const domain of [0, 7]) {
      const pool = createPool({ host: '127.0.0.1', port: 3307, user: 'root', database: opened.database, connectionLimit: 4 })
      pool.on('connection', connection => void connection.query(`set session gtid_domain_id = ${domain}`))
      const server = await startServer({ primary: drizzle({ client: pool }), replica: opened.replica })
      const browser = createBrowser(server)
      await expect
        .poll(async () => (await createScript(server).send('GET', '/seen?limit=1')).body.data[0].fromReplica, { timeout: 10_000 })
        .toBe(true)
      await opened.pause()
      const { id } = (await browser.send('POST', '/posts', { title: `domain ${domain}` })).body
      expect((await browser.send('GET', `/seen/${id}`)).body).toMatchObject({ title: `domain ${domain}`, fromReplica: false })
      expect((await createScript(server).send('GET', `/posts/${id}`)).status).toBe(404)
      await opened.resume()
      await opened.catchUp()
      await expect.poll(async () => (await browser.send('GET', `/seen/${id}`)).body.fromReplica, { timeout: 10_000 }).toBe(true)
      await pool.end()
    }
  })

  it('uses the primary and logs it once if the primary has no binary log', async () => {
    const pool = createPool({ host: '127.0.0.1', port: 3306, user: 'root', multipleStatements: true })
    await pool.query(`create database ${opened.database}`)
    const own = createPool({ host: '127.0.0.1', port: 3306, user: 'root', database: opened.database, multipleStatements: true })
    try {
      await own.query(
        'create table posts (id integer auto_increment primary key, organization_id integer not null, title varchar(100) not null, version integer not null default 0)',
      )
      const browser = createBrowser(await startServer({ primary: drizzle({ client: own }), replica: opened.replica }))
      const { id } = (await browser.send('POST', '/posts', { title: 'new' })).body
      for (let count = 0; count < 3; count++) expect((await browser.send('GET', `/posts/${id}`)).body.title).toBe('new')
      expect(error.mock.calls).toEqual([
        ['[auto-api] Replicas require a MariaDB server with a binary log (`log_bin`) as the primary. All reads use the primary.'],
      ])
    }
    finally {
      await pool.query(`drop database ${opened.database}`)
      await own.end()
      await pool.end()
    }
  })
})
