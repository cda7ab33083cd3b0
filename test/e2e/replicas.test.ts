/** Two built servers on one Postgres and its replica, which the test holds back: a client reads its own writes from both. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, REDIS, SERVICES } from '../support/services'
import { buildFixture } from './support/build'
import { startServer, type Server } from './support/server'

const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/test`
const BOARD_SCHEMA = `board_${randomUUID().slice(0, 8)}`
const needed = [REDIS, ...SERVICES.filter(({ name }) => name.startsWith('postgres'))]
const reachable = (await Promise.all(needed.map(isReachable))).every(Boolean)

const member = { user: { id: 1 }, permissions: ['member'] }

describe.skipIf(!reachable)('two servers with a replica', () => {
  const database = new pg.Client(urlOf(5432))
  const replica = new pg.Client(urlOf(5433))
  const servers: Server[] = []

  beforeAll(async () => {
    await database.connect()
    await replica.connect()
    // The whole replica is held back. No two files do that at the same time.
    await database.query('select pg_advisory_lock(7239)')
    await database.query(`create schema ${BOARD_SCHEMA}; set search_path = ${BOARD_SCHEMA};
      create table lanes (id serial primary key, name text not null, deleted_at timestamptz, deletion_id text);
      create table stickers (id serial primary key, lane_id integer not null references lanes(id), text text not null, deleted_at timestamptz, deletion_id text)`)
    const output = await buildFixture('instances')
    const env = { BOARD_URL: urlOf(5432), BOARD_REPLICA_URL: urlOf(5433), BOARD_SCHEMA, NUXT_AUTO_API_SECRET: 'a secret of both servers' }
    for (let count = 0; count < 2; count++) servers.push(await startServer(output, { env }))
  }, 300_000)

  afterEach(async () => void await replica.query('select pg_wal_replay_resume()'))

  afterAll(async () => {
    for (const { stop } of servers) await stop()
    await database.query(`drop schema if exists ${BOARD_SCHEMA} cascade`)
    await database.end()
    await replica.end()
  })

  const send = (server: number, method: string, path: string, options: object = {}) =>
    servers[server]!.request(`/api${path}`, { method, caller: member, ...options })

  /** Until both servers read from the replica: they do not see what it does not replay. */
  async function holdBack(): Promise<void> {
    await replica.query('select pg_wal_replay_pause()')
    const { rows: [{ id }] } = await database.query('insert into lanes (name) values ($1) returning id', ['not replayed'])
    for (const server of [0, 1])
      await expect.poll(async () => (await send(server, 'GET', `/lanes/${id}`)).status, { timeout: 5_000 }).toBe(404)
  }

  it.each([[0, 1], [1, 0]])('a client reads its own writes, also on the other server: %i to %i', async (one, other) => {
    // Each server has compared the replica with the primary before.
    await expect.poll(async () => {
      await Promise.all([0, 1].map(server => send(server, 'GET', '/lanes')))
      return (await replica.query('select to_regclass($1) as found', [`${BOARD_SCHEMA}.stickers`])).rows[0].found
    }, { timeout: 10_000 }).not.toBeNull()
    await holdBack()
    const created = await send(one, 'POST', '/lanes', { body: { name: `of ${one}` } })
    const path = `/lanes/${created.body.id}`
    expect(created.cookies).toEqual([expect.stringMatching(/^auto-api-consistency=[\w-]{123}$/)])
    const cookie = created.cookies.join('; ')
    const headers = { 'consistency-token': created.headers.get('consistency-token')! }
    for (const server of [one, other]) {
      const statuses = [
        await send(server, 'GET', path, { cookie }),
        await send(server, 'GET', path, { headers }),
        await send(server, 'GET', path),
        await send(server, 'HEAD', path, { cookie }),
      ]
      expect(statuses.map(({ status }) => status)).toEqual([200, 200, 404, 200])
    }
    const deleted = await send(other, 'DELETE', path, { cookie })
    expect((await send(one, 'GET', path, { cookie: deleted.cookies.join('; ') })).status).toBe(404)
    await replica.query('select pg_wal_replay_resume()')
    await expect.poll(async () => (await send(one, 'GET', path)).status, { timeout: 10_000 }).toBe(404)
  })
})
