/**
 * No plugin shows, prints or stores the secret of a token or a webhook: every response, log line, row and file of an app with all plugins
 * is searched.
 */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createStorage } from 'unstorage'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  batch,
  activityFeed,
  auditLog,
  dataExport,
  fileUpload,
  idempotency,
  live,
  mcp,
  openApi,
  rateLimit,
  requestMetadata,
  responseCache,
  tokenIntrospection,
  unstorageStorage,
  webhooks,
} from '../../../src/runtime/plugins'
import type { AutoApiContext, AutoApiPlugin } from '../../../src/runtime/server/define'
import { idempotencyKeysTable, webhookDeliveriesTable, webhooksTable } from '../../../src/runtime/plugins/schema-sqlite'
import { AUDIT_LOGS, auditLogSql } from '../../engines/support/audit-log'
import { openTokenApi, apiTokens as tokens, type TokenApi } from '../../support/api-tokens'
import { createTablesSql } from '../../support/create-tables'
import { EXPORTED } from '../../support/plugins'
import { assertNoSecrets, rememberSecret, withoutIssued } from '../../support/secrets'
import type { Answered, Caller } from '../../support/server'

/** They need an app of their own: a session library. */
const NOT_HERE = ['betterAuth']

const OWN = { read: true, create: 'tokens', update: 'tokens', delete: 'tokens' } as const
const covers = sqliteTable('covers', { id: integer('id').primaryKey(), cover: text('cover', { mode: 'json' }) })
const WEBHOOKS = { webhooks: webhooksTable(), webhookDeliveries: webhookDeliveriesTable() }
const [storage, cache] = [createStorage(), createStorage()]
/** Prints what a careless app would print about each request. */
const careless: AutoApiPlugin = {
  name: 'careless',
  onCaller: (ctx: AutoApiContext) =>
    console.info(JSON.stringify([ctx.user, ctx.permissions, ctx.tenant, ctx.credential, ctx.metadata, ctx.params, ctx.query])),
  onCommit: changes => console.info(JSON.stringify(changes)),
  around: async (_ctx, next) => {
    const response = await next()
    console.info(JSON.stringify(response))
    return response
  },
  routes: [
    {
      method: 'GET',
      path: '/failing',
      handler: (ctx: AutoApiContext) => {
        throw Object.assign(new Error(`broken for ${JSON.stringify(ctx.credential)}`), { ctx })
      },
    },
  ],
}
/** Every exported plugin. One that is added needs a line here. */
const PLUGINS: Readonly<Record<string, AutoApiPlugin>> = {
  requestMetadata: requestMetadata(),
  rateLimit: rateLimit({ by: 'token', limit: 1_000 }),
  idempotency: idempotency(),
  responseCache: responseCache({ storage: cache }),
  auditLog: auditLog(),
  activityFeed: activityFeed({ actor: { resource: 'users', label: 'role' } }),
  dataExport: dataExport(),
  fileUpload: fileUpload({ resources: { covers: { cover: { accept: ['image/png'] } } }, storage: unstorageStorage(storage) }),
  tokenIntrospection: tokenIntrospection(),
  live: live(),
  mcp: mcp(),
  batch: batch(),
  openApi: openApi({ access: true, reference: true }),
  webhooks: webhooks({
    findUser: id => ({ id: Number(id), organizationId: 1, permissions: ['*'] }), allowHttp: true, allowPrivateNetworks: true, retries: [],
  }),
}

let api: TokenApi
let log: string

beforeAll(async () => {
  log = ''
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, method).mockImplementation(
      (...args: unknown[]) =>
        void (log += `${args.map(arg => (arg instanceof Error ? `${arg.stack} ${JSON.stringify(arg)}` : String(arg))).join(' ')}\n`),
    )
  api = await openTokenApi({
    options: { manage: 'admin', failures: { limit: 1_000_000 } },
    modules: [{ apiTokens: tokens, idempotencyKeys: idempotencyKeysTable(), auditLog: AUDIT_LOGS.sqlite }],
    registrations: [
      { name: 'auditLog', schema: AUDIT_LOGS.sqlite, authorization: { permissions: { read: true } } },
      ...Object.entries(WEBHOOKS).map(([name, table]) => ({ name, schema: table, authorization: { permissions: OWN } })),
      { name: 'covers', schema: covers, authorization: { permissions: { read: true, update: true } }, protectedFields: ['cover'] },
    ],
    plugins: [...Object.values(PLUGINS), careless],
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    before: `${await auditLogSql('sqlite')} ${await createTablesSql('sqlite', WEBHOOKS)} create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer,
      body text, created_at integer not null, expires_at integer not null); create table covers (id integer primary key, cover text); insert into covers (id) values (1);`,
  })
})
afterAll(async () => {
  await api.close()
  vi.restoreAllMocks()
})

/** Sends a request and searches its response. */
async function send(
  method: string,
  path: string,
  options: { body?: unknown, headers?: Record<string, string>, caller?: Caller, token?: string } = {},
): Promise<Answered> {
  const { token, headers, ...rest } = options
  const answer = await api.server.request(method, `/api${path}`, {
    ...rest,
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  })
  assertNoSecrets(JSON.stringify([[...answer.headers], withoutIssued(answer.body)]), `The response to ${method} ${path}`)
  return answer
}

describe('the secrets of tokens', () => {
  it('are searched for with every plugin', () => {
    expect([...Object.keys(PLUGINS), 'apiTokens', ...NOT_HERE].sort()).toEqual([...EXPORTED.keys()].sort())
  })

  it('are found, if something contains them', () => {
    const secret = `aat_${'A1b2C3d4E5f6G7'.repeat(4).slice(0, 49)}`
    rememberSecret(secret)
    for (const leak of [
      secret,
      secret.slice(4, 30),
      secret.slice(-12),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('hex'),
    ])
      expect(() => assertNoSecrets(`before ${leak} after`, 'The text'), leak).toThrow('The text contains')
    expect(() => assertNoSecrets(secret.slice(0, 8), 'The start')).not.toThrow()
  })

  it('are in no response but the one that issues them, no log line, no row and no file', async () => {
    const caller = api.session(4)
    const secrets: string[] = []
    const keep = ({ status, body }: Answered, expected: number) => {
      expect([status, typeof body.token]).toEqual([expected, 'string'])
      secrets.push(body.token)
      return body as { id: string, token: string }
    }
    const key = { 'idempotency-key': 'create-1' }
    const create = () => send('POST', '/apiTokens', { caller, body: { name: 'first' }, headers: key })
    const { id, token } = keep(await create(), 201)
    expect((await create()).body).toMatchObject({ id, tokenAlreadyIssued: true })
    const bulk = await send('POST', '/apiTokens/bulk', {
      caller,
      body: { items: [{ name: 'second' }, { name: 'third', scopes: ['posts:read', 'apiTokens:read'] }] },
      headers: { 'idempotency-key': 'bulk-1' },
    })
    const [, scoped] = bulk.body.data.map((record: { token: string }) => record.token) as string[]
    secrets.push(...bulk.body.data.map((record: { token: string }) => record.token))
    const rotate = () => send('POST', `/apiTokens/${id}/rotate`, { caller, headers: { 'idempotency-key': 'rotate-1' } })
    const { token: rotated } = keep(await rotate(), 200)
    expect((await rotate()).body).toMatchObject({ id, tokenAlreadyIssued: true })

    // The retry has not rotated again.
    expect([
      (await send('GET', '/posts', { token: rotated })).status,
      (await send('GET', '/apiTokens', { token: rotated })).status,
    ]).toEqual([200, 403])
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')
    for (const secret of [rotated, token, scoped!]) {
      for (const path of [
        '/apiTokens',
        `/apiTokens/${id}`,
        '/apiTokens?filter[name]=first',
        '/apiTokens/export',
        '/apiTokens/aggregate?aggregate=count',
        '/audit-log?limit=100',
        '/auditLog',
        '/activity',
        `/apiTokens/${id}/history`,
        '/permissions',
        '/_schema',
        '/_openapi.json',
        '/_reference',
        '/failing',
        '/posts',
        '/nothing',
      ])
        await send('GET', path, { token: secret })
      await send('PATCH', `/apiTokens/${id}`, { token: secret, body: { name: secret.slice(0, 8), tokenHash: 'x' } })
      await send('POST', '/posts', { token: secret, body: { title: 'x', wrong: 1 } })
      await send('POST', '/tokens/introspect', { caller, body: { token: secret } })
      for (const name of ['list', 'get', 'history', 'describe'])
        await send('POST', '/mcp', {
          token: secret,
          body: {
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name, arguments: { resource: 'apiTokens', ...(name !== 'list' && name !== 'describe' && { id }) } },
          },
        })
      await send('GET', `/posts?token=${secret}`, { caller })
      await send('GET', `/posts/${secret}`, { caller })
      await send('POST', '/apiTokens', {
        caller,
        body: { name: 'x', token: secret },
        headers: { 'idempotency-key': secret.slice(0, 8) },
      }).then(({ body }) => typeof body.token === 'string' && secrets.push(body.token))
      await api.server.request('POST', '/api/covers/1/upload/cover', {
        raw: png,
        headers: { 'content-type': 'image/png', 'authorization': `Bearer ${secret}` },
      })
    }
    for (const path of [
      '/apiTokens?limit=100',
      '/apiTokens/export',
      '/audit-log?limit=100',
      '/auditLog',
      '/activity?limit=100',
      `/apiTokens/${id}/history`,
    ])
      expect([path, (await send('GET', path, { caller })).status]).toEqual([path, 200])
    await send('DELETE', `/apiTokens/${id}`, { caller })
    await send('GET', '/posts', { token: rotated })

    expect(new Set(secrets).size).toBeGreaterThanOrEqual(4)
    for (const secret of secrets) rememberSecret(secret)
    expect(log).toContain(`tokenId=${id}`)
    expect(log.split('\n').length).toBeGreaterThan(50)
    assertNoSecrets(log, 'The log')
    const stored = Object.fromEntries(
      ['posts', 'users', 'notes', 'audit_log', 'idempotency_keys'].map(table => [
        table,
        api.client.prepare(`select * from ${table}`).all(),
      ]),
    )
    for (const table of ['audit_log', 'idempotency_keys']) expect(stored[table]!.length, table).toBeGreaterThan(2)
    assertNoSecrets(JSON.stringify(stored), 'The database')
    // The table of tokens has the hash, and nothing else of a secret but its start.
    const rows = api.client.prepare('select id, name, user_id, organization_id, scopes, start, last_used_at from api_tokens').all()
    assertNoSecrets(JSON.stringify(rows), 'The table of tokens')
    const whole = api.client.serialize().toString('latin1')
    for (const secret of secrets) expect(whole.includes(secret.slice(4, 16)), 'the file of the database').toBe(false)
    const files = await storage.getKeys()
    expect(files.length).toBeGreaterThan(0)
    for (const key of await cache.getKeys()) assertNoSecrets(`${key} ${JSON.stringify(await cache.getItem(key))}`, 'The cache')
    for (const file of files)
      assertNoSecrets(
        `${file} ${JSON.stringify(await storage.getMeta(file))} ${Buffer.from((await storage.getItemRaw<Uint8Array>(file)) ?? []).toString('latin1')}`,
        'A file',
      )
  })
})

describe('the secrets of webhooks', () => {
  it('are in no response but the one that issues them, no log line, no delivery, no entry and no stored response', async () => {
    const caller = api.session(4)
    const secrets: string[] = []
    const keep = ({ status, body }: Answered, expected: number) => {
      expect([status, typeof body.secret]).toEqual([expected, 'string'])
      secrets.push(body.secret)
      return body as { id: string, secret: string }
    }
    const hook = { url: 'http://127.0.0.1:9/', events: ['posts.*'] }
    const create = () => send('POST', '/webhooks', { caller, body: hook, headers: { 'idempotency-key': 'hook-1' } })
    const { id } = keep(await create(), 201)
    expect((await create()).body).toMatchObject({ id, secretAlreadyIssued: true })
    const bulk = await send('POST', '/webhooks/bulk', { caller, body: { items: [hook, hook] }, headers: { 'idempotency-key': 'hooks-1' } })
    secrets.push(...bulk.body.data.map((record: { secret: string }) => record.secret))
    const rotate = () => send('POST', `/webhooks/${id}/rotate`, { caller, headers: { 'idempotency-key': 'rotate-hook-1' } })
    keep(await rotate(), 200)
    expect((await rotate()).body).toMatchObject({ id, secretAlreadyIssued: true })
    expect(new Set(secrets).size).toBe(4)

    await send('POST', '/posts', { caller, body: { title: 'sent' } })
    expect((await send('POST', `/webhooks/${id}/test`, { caller })).status).toBe(200)
    for (const path of [
      '/webhooks', `/webhooks/${id}`, '/webhooks?fields=id,secret', '/webhooks?filter[secret][$like]=whsec%25', '/webhooks?sort=secret',
      '/webhooks/aggregate?groupBy=secret', '/webhooks/aggregate?min=secret', '/webhooks/export', '/webhookDeliveries',
      '/webhookDeliveries?fields=image,columns', '/webhookDeliveries/export', '/audit-log?limit=100', '/activity?limit=100',
      `/webhooks/${id}/history`, '/_schema', '/_openapi.json', '/permissions',
    ])
      await send('GET', path, { caller })
    const patched = await send('PATCH', `/webhooks/${id}`, { caller, body: { secret: secrets[0], previousSecret: secrets[0], active: false } })
    expect(patched.status).toBe(200)
    for (const name of ['list', 'get', 'history'])
      await send('POST', '/mcp', {
        caller, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { resource: 'webhooks', ...name !== 'list' && { id } } } },
      })
    // The client did not choose it.
    const [row] = api.client.prepare('select secret, previous_secret from webhooks where id = ?').all(id) as Record<string, string>[]
    expect(row).toEqual({ secret: secrets.at(-1), previous_secret: secrets[0] })
    await send('DELETE', `/webhooks/${id}`, { caller })

    for (const secret of secrets) rememberSecret(secret)
    assertNoSecrets(log, 'The log')
    for (const table of ['audit_log', 'idempotency_keys', 'webhook_deliveries']) {
      const rows = api.client.prepare(`select * from ${table}`).all()
      expect(rows.length, table).toBeGreaterThan(2)
      assertNoSecrets(JSON.stringify(rows), `The table ${table}`)
    }
    for (const key of await cache.getKeys()) assertNoSecrets(`${key} ${JSON.stringify(await cache.getItem(key))}`, 'The cache')
  })
})
