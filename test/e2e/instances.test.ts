/** Two servers on one Postgres: each sees the writes of the other at once. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, REDIS, SERVICES } from '../support/services'
import { buildFixture } from './support/build'
import { startServer, type Server } from './support/server'

const BOARD_URL = 'postgres://postgres@127.0.0.1:5432/test'
const BOARD_SCHEMA = `board_${randomUUID().slice(0, 8)}`
const hasRedis = await isReachable(REDIS)
const reachable = await isReachable(SERVICES.find(({ name }) => name === 'postgres')!)

const member = { user: { id: 1 }, permissions: ['member'] }

describe.skipIf(!reachable)('two servers on one database', () => {
  const database = new pg.Client(BOARD_URL)
  const servers: Server[] = []
  let output: string

  beforeAll(async () => {
    await database.connect()
    await database.query(`
      create schema ${BOARD_SCHEMA};
      set search_path = ${BOARD_SCHEMA};
      create table cards (id serial primary key, title text not null unique, lane text not null default 'open');
      create table notes (id serial primary key, card_id integer not null references cards(id), text text not null);
      create table labels (id serial primary key, name text not null);
      create table card_labels (card_id integer not null references cards(id), label_id integer not null references labels(id), primary key (card_id, label_id));
      create table lanes (id serial primary key, name text not null, deleted_at timestamptz, deletion_id text);
      create table stickers (id serial primary key, lane_id integer not null references lanes(id), text text not null, deleted_at timestamptz, deletion_id text);
      create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer, body text,
        created_at timestamptz not null, expires_at timestamptz not null);
      insert into labels (name) values ('red'), ('green'), ('blue');
    `)
    output = await buildFixture('instances')
    for (let count = 0; count < 2; count++) servers.push(await startServer(output, { env: { BOARD_URL, BOARD_SCHEMA } }))
  })

  afterAll(async () => {
    for (const { stop } of servers) await stop()
    await database.query(`drop schema if exists ${BOARD_SCHEMA} cascade`)
    await database.end()
  })

  const send = async (server: number, method: string, path: string, body?: unknown) =>
    servers[server]!.request(`/api${path}`, { method, body, caller: member })
  const create = async (server: number, title: string) => (await send(server, 'POST', '/cards', { title })).body.id as number
  const titles = async (server: number, query = '') =>
    (await send(server, 'GET', `/cards?limit=100${query}`)).body.data.map(({ title }: { title: string }) => title) as string[]

  it.each([[0, 1], [1, 0]])('return each other\'s writes at once: %i to %i', async (one, other) => {
    const id = await create(one, `from ${one}`)
    const read = async () => {
      const { status, body } = await send(other, 'GET', `/cards/${id}?include=notes,labels`)
      return { status, lane: body.lane, notes: body.notes?.length, labels: body.labels?.map(({ name }: { name: string }) => name) }
    }
    expect(await read()).toEqual({ status: 200, lane: 'open', notes: 0, labels: [] })
    await send(one, 'PATCH', `/cards/${id}`, { lane: 'done' })
    const note = await send(one, 'POST', '/notes', { cardId: id, text: 'a note' })
    await send(one, 'PUT', `/cards/${id}/relations/labels`, { ids: [1, 3] })
    expect(await read()).toEqual({ status: 200, lane: 'done', notes: 1, labels: ['red', 'blue'] })
    expect((await send(other, 'DELETE', `/cards/${id}`)).status).toBe(409)
    expect((await send(other, 'DELETE', `/notes/${note.body.id}`)).status).toBe(200)
    await send(other, 'PUT', `/cards/${id}/relations/labels`, { ids: [] })
    expect((await send(one, 'DELETE', `/cards/${id}`)).status).toBe(200)
    expect((await read()).status).toBe(404)
  })

  it('accept each other\'s cursors', async () => {
    for (let index = 0; index < 10; index++) await create(index % 2, `page ${index}`)
    const seen: string[] = []
    let cursor: string | null = ''
    for (let server = 0; cursor !== null; server = 1 - server) {
      const { body } = (await send(server, 'GET', `/cards?sort=title&limit=3&cursor=${encodeURIComponent(cursor)}`)) as {
        body: { data: { title: string }[], meta: { nextCursor: string | null } }
      }
      seen.push(...body.data.map(({ title }) => title))
      cursor = body.meta.nextCursor
    }
    expect(seen).toEqual(await titles(0, '&sort=title'))
    expect(seen.length).toBeGreaterThanOrEqual(10)
  })

  it('let one of two concurrent requests use a unique title', async () => {
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([0, 1].map(server => send(server, 'POST', '/cards', { title: `taken ${round}` })))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    }
  })

  it('create one card for 100 parallel requests with one key, and answer all of them equally', async () => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        servers[index % 2]!.request('/api/cards', {
          method: 'POST',
          body: { title: 'once' },
          caller: member,
          headers: { 'idempotency-key': '"a key"' },
        }),
      ),
    )
    expect(new Set(responses.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(responses[0]!.status).toBe(201)
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(99)
    expect((await database.query('select id from cards where title = $1', ['once'])).rows).toHaveLength(1)
  })

  it('delete a card once when several requests delete it', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await create(0, `gone ${round}`)
      const answers = await Promise.all([0, 1, 0, 1].map(server => send(server, 'DELETE', `/cards/${id}`)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
      expect((await database.query('select 1 from cards where id = $1', [id])).rows).toEqual([])
    }
  })

  it.each([[0, 1], [1, 0]])('list and restore rows and dependents that the other deleted: %i to %i', async (one, other) => {
    const lane = (await send(one, 'POST', '/lanes', { name: `lane ${one}` })).body.id as number
    const stickers: number[] = []
    for (const server of [one, other])
      stickers.push((await send(server, 'POST', '/stickers', { laneId: lane, text: `by ${server}` })).body.id)
    const seen = async (server: number) => [
      (await send(server, 'GET', `/lanes/${lane}`)).status,
      ...(await Promise.all(stickers.map(async id => (await send(server, 'GET', `/stickers/${id}`)).status))),
    ]
    const { body: { deletionId } } = await send(one, 'DELETE', `/lanes/${lane}`)
    expect(await seen(other)).toEqual([404, 404, 404])
    const trashed = await send(other, 'GET', `/stickers?onlyDeleted=true&filter=${encodeURIComponent(JSON.stringify({ laneId: lane }))}`)
    expect(trashed.body.data.map(({ id, deletionId }: { id: number, deletionId: string }) => [id, deletionId])).toEqual(
      stickers.map(id => [id, deletionId]),
    )
    expect((await send(other, 'POST', '/stickers', { laneId: lane, text: 'too late' })).status).toBe(400)
    expect((await send(other, 'POST', '/lanes/bulk/restore', { deletionId })).status).toBe(200)
    expect(await seen(one)).toEqual([200, 200, 200])
    const answers = await Promise.all([0, 1].map(server => send(server, 'DELETE', `/lanes/${lane}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    const { rows } = await database.query(
      'select deletion_id from lanes where id = $1 union all select deletion_id from stickers where lane_id = $1',
      [lane],
    )
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ deletion_id: answers.find(({ status }) => status === 200)!.body.deletionId })))
  })

  it('update all cards of a bulk request or none, when both update the same cards', async () => {
    const ids: number[] = []
    for (let index = 0; index < 6; index++) ids.push(await create(index % 2, `moved ${index}`))
    for (let round = 0; round < 3; round++) {
      const lanes = [`left ${round}`, `right ${round}`]
      // In opposite orders, so that they block each other.
      const answers = await Promise.all(
        lanes.map((lane, server) =>
          send(server, 'PATCH', '/cards/bulk', { items: (server === 0 ? ids : [...ids].reverse()).map(id => ({ id, data: { lane } })) }),
        ),
      )
      expect(answers.map(({ status }) => status)).toContain(200)
      const { rows } = await database.query('select distinct lane from cards where id = any($1)', [ids])
      expect(rows).toHaveLength(1)
      expect(lanes).toContain(rows[0].lane)
    }
    await send(0, 'PATCH', '/cards/bulk', { items: ids.map(id => ({ id, data: { lane: 'done' } })) })
  })

  it('return the same aggregates', async () => {
    const totals = await Promise.all(
      [0, 1].map(async server => (await send(server, 'GET', '/cards/aggregate?aggregate=count&groupBy=lane&sort=lane')).body),
    )
    expect(totals[0]).toEqual(totals[1])
    expect(totals[0].meta.total).toBe(2)
  })

  describe.runIf(hasRedis)('with one response cache in Redis', () => {
    const read = async (server: number, path: string) => {
      const { body, headers } = await send(server, 'GET', path)
      return [body.title ?? body.data.length, String(headers.get('cache-status')).replace(/ttl=\d+/, 'ttl')]
    }
    const [HIT, STORED] = ['auto-api; hit; ttl', 'auto-api; fwd=miss; stored']

    it.each([[0, 1], [1, 0]])('share responses, and a write on one outdates those of both: %i and %i', async (one, other) => {
      const title = randomUUID()
      const id = await create(one, title)
      expect([await read(one, `/cards/${id}`), await read(other, `/cards/${id}`)]).toEqual([[title, STORED], [title, HIT]])
      await send(other, 'PATCH', `/cards/${id}`, { title: `${title} changed` })
      expect([await read(one, `/cards/${id}`), await read(other, `/cards/${id}`)]).toEqual([
        [`${title} changed`, STORED],
        [`${title} changed`, HIT],
      ])
      const tag = (await send(one, 'GET', `/cards/${id}`)).headers.get('etag')!
      const again = await servers[other]!.request(`/api/cards/${id}`, { caller: member, headers: { 'if-none-match': tag } })
      expect([again.status, again.headers.get('cache-status')]).toEqual([304, expect.stringContaining('; hit; ')])
      expect(
        (await servers[other]!.request(`/api/cards/${id}`, { caller: { user: { id: 2 }, permissions: ['member'] } })).headers.get(
          'cache-status',
        ),
      ).toBe(STORED)
    })

    it('answer with the new row after every write while both read all the time', async () => {
      const id = await create(0, randomUUID())
      let ends = false
      const readers = [0, 1, 0, 1].map(async (server) => {
        while (!ends) await read(server, `/cards/${id}`)
      })
      for (let round = 0; round < 100; round++) {
        const title = randomUUID()
        await send(round % 2, 'PATCH', `/cards/${id}`, { title })
        for (const server of [0, 1]) expect((await read(server, `/cards/${id}`))[0]).toBe(title)
      }
      ends = true
      await Promise.all(readers)
    })

    it('answer with an old row for `ttl` at most, if a server is killed between its commit and the invalidation', async () => {
      const title = randomUUID()
      const id = await create(0, title)
      const killed = await startServer(output, { env: { BOARD_URL, BOARD_SCHEMA, BOARD_KILL: '1' } })
      expect(await read(1, `/cards/${id}`)).toEqual([title, STORED])
      const start = Date.now()
      await expect(
        killed.request(`/api/cards/${id}`, { method: 'PATCH', body: { title: `${title} killed` }, caller: member }),
      ).rejects.toThrow()
      expect((await database.query('select title from cards where id = $1', [id])).rows).toEqual([{ title: `${title} killed` }])
      // Nobody has told the others.
      expect(await read(0, `/cards/${id}`)).toEqual([title, HIT])
      await expect.poll(async () => (await read(0, `/cards/${id}`))[0], { timeout: 8_000, interval: 50 }).toBe(`${title} killed`)
      expect(Date.now() - start).toBeLessThan(7_000)
      expect(await read(1, `/cards/${id}`)).toEqual([`${title} killed`, HIT])
    })
  })
})
