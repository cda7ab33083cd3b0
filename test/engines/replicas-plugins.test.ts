/** Plugins over a replica that is held back: tokens, stored responses, stored keys, and code of the app that writes. */
import { createRequire } from 'node:module'
import { defineEventHandler } from 'h3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext } from '../../src/runtime/server/define'
import { apiTokens, idempotency, responseCache } from '../../src/runtime/plugins'
import type { PluginServer } from '../../src/runtime/server/plugin/server'
import { apiTokensTable, idempotencyKeysTable } from '../../src/runtime/plugins/schema-pg'
import { atomicWrites, createEndpoint, setConsistencyToken } from '../../src/runtime/server/utils'
import type { ServerOptions, TestServer } from '../support/server'
import connect from './examples/replica'
import { hasReplica, openReplicated, type Replicated } from './support/replica'
import { createBrowser, createScript, OURS, posts, POSTS_SQL, startServer } from './support/replicated-posts'

const TURN = 240_000

const TOKENS = apiTokensTable()
const KEYS = idempotencyKeysTable()

async function migration(): Promise<string> {
  const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')
  return (await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson({ TOKENS, KEYS } as never))).join('\n')
}

interface Inserting { insert: (table: unknown) => { values: (values: object) => unknown } }

describe.skipIf(!hasReplica)('over a replica that is held back', () => {
  let opened: Replicated

  beforeAll(async () => {
    opened = await openReplicated(POSTS_SQL + await migration())
  }, TURN)
  afterAll(() => opened?.close())
  beforeEach(() => opened.catchUp())
  afterEach(async () => {
    await opened.resume()
    await opened.catchUp()
    vi.restoreAllMocks()
  })

  const startHeldBack = async (options: Partial<ServerOptions>): Promise<TestServer> => {
    const server = await startServer(opened, {}, options)
    await expect
      .poll(
        async () =>
          (await createScript(server).send('GET', '/seen?limit=1', undefined, { 'cache-control': 'no-store' })).body.data[0].fromReplica,
        { timeout: 10_000 },
      )
      .toBe(true)
    await opened.pause()
    return server
  }

  it('a revoked token is refused at once, and a new one is accepted', async () => {
    const user = { id: '1', organizationId: 1, permissions: ['tokens'] }
    const server = await startHeldBack({
      registrations: [
        {
          name: 'apiTokens',
          schema: TOKENS,
          authorization: { permissions: { read: 'tokens', create: 'tokens', update: 'tokens', delete: 'tokens' } },
        },
      ],
      plugins: [apiTokens({ findUser: id => (id === '1' ? user : null) })],
    })
    const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      server.request(method, `/api${path}`, { body, headers, ...!headers && { caller: { user, permissions: user.permissions } } })
    const { id, token } = (await send('POST', '/apiTokens', { name: 'x', scopes: ['seen:read'] })).body
    const read = () => send('GET', '/seen?limit=1', undefined, { authorization: `Bearer ${token}` })
    expect(await read()).toMatchObject({ status: 200, body: { data: [{ fromReplica: true }] } })
    const revoked = await send('DELETE', `/apiTokens/${id}`)
    expect([revoked.status, revoked.headers.getSetCookie().length]).toEqual([200, 1])
    expect((await read()).status).toBe(401)
  })

  it('a caller of a token gets the header without a cookie', async () => {
    const user = { id: '1', organizationId: 1, permissions: ['tokens'] }
    const server = await startHeldBack({
      registrations: [{ name: 'apiTokens', schema: TOKENS, authorization: { permissions: { read: 'tokens', create: 'tokens' } } }],
      plugins: [apiTokens({ findUser: id => id === '1' ? user : null })],
    })
    const { token } = (
      await server.request('POST', '/api/apiTokens', {
        body: { name: 'x', scopes: ['posts:update', 'posts:read'] },
        caller: { user, permissions: user.permissions },
      })
    ).body
    const { status, headers } = await server.request('PATCH', '/api/posts/1', {
      body: { version: 0 },
      headers: { authorization: `Bearer ${token}` },
    })
    expect([status, headers.get('consistency-token')?.length, headers.getSetCookie()]).toEqual([200, 123, []])
  })

  it('no response is stored that lacks a write from before it', async () => {
    const server = await startHeldBack({ plugins: [responseCache({ ttl: 300 })] })
    const [reader, writer] = [createScript(server, OURS, false), createBrowser(server)]
    const read = async (path: string) => {
      const { body, headers } = await reader.send('GET', path)
      return [
        body.title ?? body.data.map(({ title }: { title: string }) => title).join(),
        headers.get('cache-status')!.replace(/; ttl=\d+/, ''),
      ]
    }
    for (const path of ['/posts/1', '/posts?sort=id']) {
      expect(await read(path)).toEqual(['ours', 'auto-api; fwd=miss; stored'])
      expect(await read(path)).toEqual(['ours', 'auto-api; hit'])
      await writer.send('PATCH', '/posts/1', { title: 'changed' })
      expect(await read(path)).toEqual(['changed', 'auto-api; fwd=miss; stored'])
      expect(await read(path)).toEqual(['changed', 'auto-api; hit'])
      await writer.send('PATCH', '/posts/1', { title: 'ours' })
    }
  })

  it('no total is stored that lacks a write from before it', async () => {
    const values = new Map<string, unknown>()
    let entries = -Infinity
    let written: Promise<unknown> | undefined
    const driver = {
      async getItem(key: string) {
        // The second entry is the total. A write ends before it and the generations are read, and after the replica was chosen.
        if (key.includes('entry:') && ++entries === 2) {
          written = new Promise(resolve => setTimeout(resolve, 200)).then(() =>
            createBrowser(server).send('POST', '/posts', { title: 'new' }),
          )
        }
        await written
        return values.get(key) ?? null
      },
      setItem: (key: string, value: unknown) => void values.set(key, value),
    }
    const storage = { getMount: () => ({ base: '', driver: driver as { name?: string } }) }
    const server = await startHeldBack({ plugins: [responseCache({ ttl: 300, storage, resources: ['posts'] })] })
    await createScript(server, OURS, false).send('GET', '/posts/1')
    entries = 0
    const total = async (limit: number) => (await createScript(server, OURS, false).send('GET', `/posts?limit=${limit}`)).body.meta.total
    expect([await total(1), await total(2)]).toEqual([2, 2])
    expect((await written as { status: number }).status).toBe(201)
  })

  it('what a response cache does not store comes from the replica', async () => {
    const server = await startHeldBack({ plugins: [responseCache({ resources: ['posts'] })] })
    opened.sent()
    await createScript(server).send('GET', '/seen')
    expect(opened.sent()).toEqual({ primary: [], replica: [expect.any(String), expect.any(String)] })
  })

  it('a repeated request with the same key gets the same response, and its caller the marker', async () => {
    const server = await startHeldBack({ modules: [{ KEYS }], plugins: [idempotency()] })
    const key = { 'idempotency-key': '"a key"' }
    const first = await createScript(server).send('POST', '/posts', { title: 'once' }, key)
    const browser = createBrowser(server)
    const again = await browser.send('POST', '/posts', { title: 'once' }, key)
    expect([first.status, again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([201, 201, first.body, 'true'])
    expect((await browser.send('GET', `/posts/${first.body.id}`)).body.title).toBe('once')
    await browser.send('DELETE', `/posts/${first.body.id}`)
  })

  it('handlers of the app can let the caller read what they wrote', async () => {
    const insert = (title: string) => (db: Inserting) => db.insert(posts).values({ organizationId: 1, title })
    const server = await startHeldBack({
      endpoints: async () => ({
        'POST /endpoint': createEndpoint({ async handler(ctx) {
          await atomicWrites<Inserting>(ctx, [insert('endpoint')])
        } }),
        'GET /handler': defineEventHandler(async (event) => {
          await atomicWrites<Inserting>({ event }, [insert('handler')])
          await setConsistencyToken(event)
          return {}
        }),
      }),
    })
    for (const [method, name] of [['POST', 'endpoint'], ['GET', 'handler']] as const) {
      const browser = createBrowser(server)
      const list = async (client = browser) => (await client.send('GET', `/posts?filter={"title":"${name}"}`)).body.data.length as number
      expect(await list()).toBe(0)
      await browser.send(method, `/../${name}`)
      expect([await list(), await list(createBrowser(server))]).toEqual([1, 0])
    }
  })

  it('the server plugin of the docs reads from the replica', async () => {
    const server = await startHeldBack({})
    const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/${opened.database}`
    vi.stubEnv('DATABASE_URL', urlOf(5432)).stubEnv('REPLICA_URL', urlOf(5433))
    const connected = connect()
    try {
      // A busy replica is used as soon as it says how far it is.
      const isFromReplica = async () => (await createScript(server).send('GET', '/seen?limit=1')).body.data[0].fromReplica as boolean
      await expect.poll(isFromReplica, { timeout: 10_000 }).toBe(true)
    }
    finally {
      vi.unstubAllEnvs()
      for (const { $client } of connected) await $client.end()
    }
  })

  it('code that writes during a read checks the rows of the primary', async () => {
    let server: PluginServer
    let id = 0
    const updated: unknown[] = []
    const plugin = {
      name: 'writes',
      setup: (own: PluginServer) => void (server = own),
      async around(ctx: AutoApiContext, next: () => Promise<unknown>) {
        if (ctx.resource === 'comments') updated.push(await server.update(ctx, 'posts', String(id), { title: 'by a read' }))
        return next()
      },
    }
    const test = await startHeldBack({ plugins: [plugin] })
    id = (await createBrowser(test).send('POST', '/posts', { title: 'not on the replica' })).body.id
    expect((await createBrowser(test).send('GET', '/comments')).status).toBe(200)
    expect(updated).toHaveLength(1)
    expect(await opened.all(`select title from posts where id = ${id}`)).toEqual([['by a read']])
  })
})
