/** With sessions of D1, a caller reads what it has written, whichever replica answers and however far that one is behind. */
import { drizzle } from 'drizzle-orm/d1'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { Miniflare } from 'miniflare'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { toBookmark, toPosition } from '../../../src/runtime/server/engines/d1-sessions'
import { createServer, type TestServer } from '../../support/server'
import { openLaggingD1, type LaggingD1 } from '../../support/lagging-d1'
import { byTier } from '../../support/tiers'

const items = sqliteTable('items', { id: integer('id').primaryKey({ autoIncrement: true }), value: integer('value').notNull(), note: text('note') })
const SCHEMA = 'create table items (id integer primary key autoincrement, value integer not null, note text)'
const EVERYTHING = { read: true, aggregate: true, create: true, update: true, delete: true }
const SECRET = 'the secret of a test that is long enough'

interface World extends Pick<LaggingD1, 'advance' | 'counts'> { readonly server: TestServer }

async function open(random: () => number, secret = SECRET): Promise<World> {
  const { binding, ...d1 } = openLaggingD1(SCHEMA, 3, random)
  return { ...d1, server: await openServer(drizzle(binding as never), secret) }
}

const openServer = (db: object, secret: string) =>
  createServer({
    // As in an app: a function that the API calls for each request.
    db: () => db,
    engine: 'd1',
    databaseOptions: { sessions: true },
    secret,
    registrations: [{ name: 'items', schema: items, authorization: { permissions: EVERYTHING } }],
  })

/** A client that keeps the marker, as a browser keeps its cookie or as a script keeps the header. */
function createClient({ server }: World, keeps: 'cookie' | 'header' | 'nothing') {
  let marker: string | undefined
  return async (method: string, path: string, body?: unknown) => {
    const headers: Record<string, string> = marker === undefined || keeps === 'nothing'
      ? {}
      : keeps === 'header' ? { 'consistency-token': marker } : { cookie: `other=1; auto-api-consistency=${marker}` }
    const response = await server.request(method, `/api/items${path}`, { body, headers })
    marker = response.headers.get('consistency-token') ?? marker
    return response
  }
}

/** A caller, and what it has written last: the value of each item, or `null` if it has deleted the item. Later values are higher. */
function createCaller(send: ReturnType<typeof createClient>) {
  const own = new Map<number, number | null>()
  return {
    own,
    async create(value: number): Promise<number> {
      const { status, body } = await send('POST', '', { value })
      expect(status).toBe(201)
      own.set(body.id, value)
      return body.id
    },
    async change(kind: 'update' | 'bulk' | 'delete', id: number, value: number): Promise<void> {
      const { status } = kind === 'update'
        ? await send('PATCH', `/${id}`, { value })
        : kind === 'bulk' ? await send('PATCH', '/bulk', { items: [{ id, data: { value } }] }) : await send('DELETE', `/${id}`)
      if (status === 200) own.set(id, kind === 'delete' ? null : value)
    },
    /** @param isDeleted whether any caller has deleted the item */
    async read(kind: 'get' | 'list' | 'sorted', id: number, isDeleted: (id: number) => boolean): Promise<void> {
      const { status, body } = await send('GET', kind === 'get' ? `/${id}` : kind === 'list' ? '' : '?sort=-value&limit=50')
      const found: { id: number, value: number }[] = kind === 'get' ? status === 200 ? [body] : [] : body.data
      const values = new Map(found.map(({ id, value }) => [id, value]))
      for (const seen of kind === 'get' ? [id] : own.keys()) {
        const written = own.get(seen)
        if (written === null) expect(values.has(seen)).toBe(false)
        else if (written !== undefined && values.has(seen)) expect(values.get(seen)).toBeGreaterThanOrEqual(written)
        else if (written !== undefined) expect(isDeleted(seen)).toBe(true)
      }
    },
  }
}

const RUNS = Number(process.env.RUNS ?? byTier({ push: 300, full: 10_000, release: 10_000 }))
const STEP = fc.record({
  caller: fc.nat({ max: 2 }),
  kind: fc.constantFrom('create', 'update', 'bulk', 'delete', 'get', 'list', 'sorted', 'advance', 'advance'),
  item: fc.nat({ max: 3 }),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
})

afterEach(() => void vi.restoreAllMocks())

describe('sessions of D1', () => {
  it(`a caller reads its own writes: ${RUNS} sequences`, async () => {
    const total = { sequences: 0, reads: 0, behind: 0, replica: 0 }
    const numbers = fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true }))
    await fc.assert(fc.asyncProperty(fc.array(STEP, { minLength: 8, maxLength: 24 }), numbers, async (steps, random) => {
      const world = await open(() => random.next().value as number)
      const callers = (['cookie', 'header', 'cookie'] as const).map(keeps => createCaller(createClient(world, keeps)))
      const ids: number[] = []
      for (const [index, { caller, kind, item, share }] of steps.entries()) {
        const id = ids[item % Math.max(1, ids.length)] ?? 0
        if (kind === 'advance') world.advance(item, share)
        else if (kind === 'create') ids.push(await callers[caller]!.create(index))
        else if (kind === 'update' || kind === 'bulk' || kind === 'delete') await callers[caller]!.change(kind, id, index)
        else {
          total.reads++
          const isDeleted = (id: number) => callers.some(({ own }) => own.get(id) === null)
          await callers[caller]!.read(kind, id, isDeleted)
        }
      }
      total.sequences++
      total.behind += world.counts.behind
      total.replica += world.counts.replica
    }), { numRuns: RUNS })
    const { sequences, reads, behind, replica } = total
    console.info(`D1 sessions: ${sequences} sequences, ${reads} reads, 0 stale; ${behind} of ${replica} queries of replicas were behind`)
    expect(behind).toBeGreaterThan(sequences / 10)
  }, 60_000 + RUNS * 100)

  it('a client without the marker can read an older state', async () => {
    const world = await open(() => 0)
    const send = createClient(world, 'nothing')
    const { body } = await send('POST', '', { value: 1 })
    expect((await send('GET', `/${body.id}`)).status).toBe(404)
    world.advance(0, 1)
    expect((await send('GET', `/${body.id}`)).status).toBe(200)
  })

  it('a write reads and checks on the primary', async () => {
    const world = await open(() => 0)
    const send = createClient(world, 'nothing')
    const { body } = await send('POST', '', { value: 1 })
    expect((await send('PATCH', `/${body.id}`, { value: 2 })).status).toBe(200)
    expect(world.counts.replica).toBe(0)
  })

  it('without a secret, all reads use the primary, and the log says why once', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const world = await open(() => 0, '')
    const send = createClient(world, 'header')
    await send('POST', '', { value: 1 })
    expect((await send('GET', '')).body.data).toHaveLength(1)
    await send('GET', '')
    expect(world.counts.replica).toBe(0)
    expect(error.mock.calls.filter(([line]) => String(line).includes('`sessions` needs a secret'))).toHaveLength(1)
  })

  it('a marker does not disclose the bookmark', async () => {
    const world = await open(() => 0)
    const { headers } = await world.server.request('POST', '/api/items', { body: { value: 1 } })
    expect(headers.get('consistency-token')).toMatch(/^[\w-]{100,400}$/)
    expect(headers.get('consistency-token')).not.toContain('00000001')
  })
})

it('works on the runtime of Cloudflare', async () => {
  const miniflare = new Miniflare({ modules: true, script: 'export default {}', d1Databases: { DB: 'sessions' } })
  try {
    const binding = await miniflare.getD1Database('DB')
    await binding.exec(SCHEMA)
    const server = await openServer(drizzle(binding as never), SECRET)
    const { status, headers } = await server.request('POST', '/api/items', { body: { value: 1 } })
    expect([status, headers.has('consistency-token')]).toEqual([201, true])
    const read = (path: string) => server.request('GET', `/api/items${path}`, { headers: { 'consistency-token': headers.get('consistency-token')! } })
    expect((await read('?sort=value')).body.data).toMatchObject([{ id: 1, value: 1 }])
    expect((await read('/1')).body).toMatchObject({ value: 1 })
  }
  finally {
    await miniflare.dispose()
  }
})

describe('the option `sessions`', () => {
  const openWith = (engine: 'd1' | 'better-sqlite3', options: object, db: object = drizzle(openLaggingD1(SCHEMA, 1, () => 0).binding as never)) =>
    createServer({ db, engine, databaseOptions: options, registrations: [{ name: 'items', schema: items, authorization: { permissions: EVERYTHING } }] })

  it.each([
    ['better-sqlite3', { sessions: true }, /requires the engine 'd1'/],
    ['d1', { sessions: 'yes' }, /`sessions` must be `true` or `false`/],
    ['d1', { sessions: true, maxLag: 500 }, /`maxLag` has no effect with `sessions`/],
  ] as const)('is refused: %s %j', async (engine, options, message) => {
    await expect(openWith(engine, options)).rejects.toThrow(message)
  })

  it('is refused for a binding without sessions', async () => {
    const old = { prepare: () => {}, batch: () => {} }
    await expect(openWith('d1', { sessions: true }, drizzle(old as never))).rejects.toThrow(/has `withSession\(\)`/)
  })
})

it('a bookmark survives its way through a position, and later ones are higher', () => {
  const bookmark = fc.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/)
  fc.assert(fc.property(bookmark, bookmark, (one, other) => {
    const [a, b] = [toPosition(one)!, toPosition(other)!]
    expect(toBookmark(a)).toBe(one)
    expect(a.get(0)! < b.get(0)!).toBe(one < other)
  }))
  expect(toPosition('')).toBeUndefined()
  expect(toPosition('x'.repeat(201))).toBeUndefined()
  // The position that stands for "unknown".
  expect(toBookmark(new Map([[0, BigInt(1) << BigInt(64)]]))).toBeUndefined()
  expect(toBookmark(new Map())).toBeUndefined()
})
