/** What servers say to each other, and when a server lets its streams be reset. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createServers, type Servers } from '../../../src/runtime/plugins/live/server/servers'
import type { WatchedRow } from '../../../src/runtime/server/kit/listen'
import type { PluginServer } from '../../../src/runtime/server/plugin/server'
import { eventually } from './eventually'
import { createFakeRedis, type FakeClient, type FakeRedis } from './fake-redis'
import { sleep } from './feed'

const TIMES = { beat: 40, lease: 400, answer: 100, start: 50 }

const SERVER = {
  services: { get: () => () => ({ dialect: 'sqlite', client: {} }) },
  runtimeConfig: () => ({ autoApi: { secret: 'a secret' } }),
} as unknown as PluginServer

interface Started {
  readonly servers: Servers
  readonly client: FakeClient
  readonly tables: string[]
  readonly rows: WatchedRow[]
  readonly missed: (readonly string[] | undefined)[]
}

let redis: FakeRedis
const all: Started[] = []
beforeEach(() => {
  redis = createFakeRedis()
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})
afterEach(async () => {
  for (const { servers } of all.splice(0)) await servers.close()
  vi.restoreAllMocks()
})

async function start(): Promise<Started> {
  const [client, tables, rows, missed] = [redis.client(), [] as string[], [] as WatchedRow[], [] as Started['missed']]
  const servers = createServers(SERVER, {
    place: { redis: client }, tables: () => tables, onRows: found => rows.push(...found), onMissed: names => missed.push(names),
  }, TIMES)
  const started = { servers, client, tables, rows, missed }
  all.push(started)
  await servers.whenReady()
  await sleep(20)
  missed.length = 0
  return started
}

const row = (before: object, after: object): WatchedRow =>
  ({ table: 'posts', resource: 'posts', id: '1', isNew: false, before: before as never, after: after as never })

describe('a server without streams', () => {
  it('reports every row until it knows all others, then those of tables that another one follows', async () => {
    const [writer, reader] = [await start(), await start()]
    expect([writer.servers.isActive(), writer.servers.watches('posts')]).toEqual([true, true])
    await eventually(() => expect(writer.servers.isActive()).toBe(false))
    expect(writer.servers.watches('posts')).toBe(false)
    reader.tables.push('posts')
    await reader.servers.follow()
    await eventually(() => expect(['posts', 'comments'].map(table => writer.servers.watches(table))).toEqual([true, false]))
    expect(writer.servers.isActive()).toBe(true)
    reader.tables.pop()
    await eventually(() => expect(writer.servers.isActive()).toBe(false))
  })

  it('sends values as Drizzle returns them', async () => {
    const [writer, reader] = [await start(), await start()]
    const before = { id: 1n, at: new Date(0), data: new Uint8Array([1, 2]), json: { a: [null] }, same: 'same' }
    const after = { ...before, at: new Date(1), json: { a: [1] } }
    writer.servers.tell([row(before, after), { table: 'posts', id: '2', isNew: true, after: after as never }])
    await eventually(() => expect(reader.rows).toHaveLength(2))
    expect(reader.rows).toEqual([row(before, after), { table: 'posts', id: '2', isNew: true, after }])
    expect(writer.rows).toEqual([])
  })

  it('sends no values of classes, which would arrive as others', async () => {
    const [writer, reader] = [await start(), await start()]
    writer.servers.tell([row({ price: new URL('http://localhost') }, {})])
    await eventually(() => expect(reader.missed).toEqual([['posts']]))
    expect(reader.rows).toEqual([])
  })
})

describe('the streams of a server are reset', () => {
  it('when another one ends without a word, and not when it says that it stops', async () => {
    const [here, leaving, dying] = [await start(), await start(), await start()]
    await sleep(TIMES.lease)
    await leaving.servers.close()
    await sleep(2 * TIMES.lease)
    expect(here.missed).toEqual([])
    dying.client.cut()
    await eventually(() => expect(here.missed).toEqual([undefined]))
  })

  it('when another one could not report a change', async () => {
    const [here, cut] = [await start(), await start()]
    cut.client.cut()
    cut.servers.tell([row({}, {})])
    cut.client.mend()
    await eventually(() => expect(here.missed.length).toBeGreaterThan(0))
    expect(cut.missed.length).toBeGreaterThan(0)
  })

  it('when another one learns too late what they follow', async () => {
    const [here, busy] = [await start(), await start()]
    await eventually(() => expect(busy.servers.isActive()).toBe(false))
    const held: string[] = []
    redis.deliver = (text) => {
      held.push(text)
      return []
    }
    here.tables.push('posts')
    await here.servers.follow()
    expect(busy.servers.watches('posts')).toBe(false)
    redis.deliver = text => [...held.splice(0), text]
    await eventually(() => expect(here.missed).toContain(undefined))
    expect(busy.servers.watches('posts')).toBe(true)
  })
})
