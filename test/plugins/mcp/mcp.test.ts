/**
 * The tools of `mcp`, used by the official client: the rules of the caller's token, writes that are confirmed, and results of a limited
 * size.
 */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { auditLog, idempotency, mcp, rateLimit, type McpOptions } from '../../../src/runtime/plugins/index'
import { auditLogTable, idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { auditLogSql } from '../../engines/support/audit-log'
import { openTokenApi, type TokenApi, type TokenApiOptions } from '../../support/api-tokens'
import { connectMcp, type McpClient } from '../../support/mcp'

let api: TokenApi | undefined
afterEach(async () => {
  await api?.close()
  api = undefined
})

const AUDIT_LOG = auditLogTable()
const KEYS_SQL = `create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text,
  status integer, body text, created_at integer not null, expires_at integer not null);`
const READS = ['describe', 'list', 'get', 'aggregate']
const ALL = [...READS, 'history', 'create', 'update', 'delete', 'restore']

async function open(options: McpOptions = {}, { plugins = [], ...rest }: TokenApiOptions = {}): Promise<TokenApi> {
  return api = await openTokenApi({ plugins: [mcp(options), ...plugins], ...rest })
}

/** With an audit log and idempotency keys. */
async function openFull(options: McpOptions = { write: true }, rest: TokenApiOptions = {}): Promise<TokenApi> {
  return await open(options, {
    before: await auditLogSql('sqlite') + KEYS_SQL,
    modules: [{ idempotencyKeys: idempotencyKeysTable(), auditLog: AUDIT_LOG }],
    registrations: [{ name: 'auditLog', schema: AUDIT_LOG, authorization: { permissions: { read: 'editor' } } }],
    ...rest,
    // Listed after `mcp`, which has to find them all the same.
    plugins: [auditLog(), idempotency(), ...rest.plugins ?? []],
  })
}

async function connect(userId?: number, scopes?: readonly string[], path = '/api/mcp'): Promise<McpClient> {
  const token = userId === undefined ? undefined : (await api!.make(userId, scopes && { scopes })).token
  return await connectMcp({ token, fetch: request => api!.server.fetch(request), url: `http://localhost${path}` })
}

/** Sends one message without the client. */
const post = (body: unknown, headers: Record<string, string> = {}) => api!.server.request('POST', '/api/mcp', { body, headers })
const message = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, ...params && { params } })
const rows = (query: string) => api!.client.prepare(query).all() as Record<string, unknown>[]

describe('the tools', () => {
  it.each<[who: string, user: number | undefined, scopes: string[] | undefined, write: boolean, tools: readonly string[]]>([
    ['an editor', 1, undefined, true, ALL],
    ['an editor, without `write`', 1, undefined, false, [...READS, 'history']],
    ['a token that can only read', 1, ['posts:read'], true, READS],
    ['a token that can create', 1, ['posts:create'], true, ['describe', 'create']],
    ['a token without scopes', 1, [], true, ['describe']],
    ['nobody', undefined, undefined, true, [...READS, 'create']],
  ])('of %s are those whose operation the caller can use', async (_who, user, scopes, write, tools) => {
    await openFull({ write, ...scopes && { resources: ['posts'] } })
    const { client } = await connect(user, scopes)
    const { tools: listed } = await client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(tools)
    for (const { inputSchema } of listed) expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
  })

  it('are refused with the code of the API if the caller cannot use the operation', async () => {
    await openFull()
    const { call } = await connect(1, ['posts:read'])
    expect(await call('update', { resource: 'posts', id: 1, values: { title: 'x' } })).toMatchObject({
      isError: true,
      result: { error: { code: 'FORBIDDEN', status: 403 } },
    })
    expect(await (await connect()).call('list', { resource: 'posts' })).toMatchObject({
      isError: true,
      result: { error: { code: 'UNAUTHENTICATED', status: 401 } },
    })
    expect(rows('select title from posts where id = 1')).toEqual([{ title: 'first' }])
  })

  it.each(['create', 'update', 'delete', 'restore'])('do not include `%s` without the option `write`', async (name) => {
    await open()
    const { client } = await connect(4)
    await expect(client.callTool({ name, arguments: { resource: 'posts', id: 1, values: {} } })).rejects.toThrow('There is no such tool.')
  })

  it('refuse arguments that their schema does not have', async () => {
    await open({ write: true })
    const { call } = await connect(1)
    for (const [tool, args, path] of [
      ['list', { resource: 'posts', limitt: 1 }, []],
      ['list', { resource: 'posts', limit: 51 }, ['limit']],
      ['get', { resource: 'posts' }, ['id']],
      ['create', { resource: 'posts', values: { title: 'x' }, idempotencyKey: 'k' }, []],
    ] as const) {
      const { isError, result } = await call(tool, args)
      expect([tool, isError, result.error.code, result.error.issues[0].path]).toEqual([tool, true, 'VALIDATION_FAILED', path])
    }
  })
})

describe('results', () => {
  it.each<[tool: string, args: Record<string, unknown>, path: string]>([
    ['list', { resource: 'posts', sort: ['-id'], cursor: '' }, '/posts?sort=-id&limit=20&cursor='],
    [
      'list',
      { resource: 'posts', filter: { title: { $like: '%i%' } }, fields: ['title'], limit: 1 },
      '/posts?filter[title][$like]=%25i%25&fields=title&limit=1&cursor=',
    ],
    ['list', { resource: 'posts', trash: 'include' }, '/posts?includeDeleted=true&limit=20&cursor='],
    ['list', { resource: 'posts', sort: ['-author.name'] }, '/posts?sort=-author.name&limit=20&cursor='],
    // No relation of posts can be counted.
    ['list', { resource: 'posts', counts: ['comments', 'tags'] }, '/posts?counts=comments,tags&limit=20&cursor='],
    ['get', { resource: 'posts', id: 1, counts: ['comments'] }, '/posts/1?counts=comments'],
    ['list', { resource: 'posts', trash: 'only' }, '/posts?onlyDeleted=true&limit=20&cursor='],
    [
      'aggregate',
      { resource: 'posts', functions: ['count', 'max(id)'], groupBy: ['authorId'], having: { count: { $gt: 0 } }, sort: ['-authorId'] },
      '/posts/aggregate?aggregate=count,max(id)&groupBy=authorId&having={"count":{"$gt":0}}&sort=-authorId',
    ],
    ['aggregate', { resource: 'posts', filter: { id: 1 } }, '/posts/aggregate?filter[id]=1'],
  ])('of `%s` with %o equal the response of the route', async (tool, args, path) => {
    await open()
    for (const [user, scopes] of [[1], [2], [3], [4], [1, ['posts:read', 'posts:aggregate', 'posts:viewDeleted']]] as [
      number,
      string[]?,
    ][]) {
      api!.client.exec('update posts set deleted_at = 1 where id = 2')
      const { token } = await api!.make(user, scopes && { scopes })
      const { call } = await connectMcp({ token, fetch: request => api!.server.fetch(request) })
      const { body } = await api!.ask(token, 'GET', `/api${path}`)
      const { result, isError } = await call(tool, args)
      expect([user, result]).toEqual([user, isError ? { error: expect.objectContaining({ code: body.data.code }) } : body])
    }
  })

  it('of `get` contain the fields that the caller can read, and the tag of the record', async () => {
    await open()
    const { token } = await api!.make(1)
    const { call } = await connectMcp({ token, fetch: request => api!.server.fetch(request) })
    const { body, headers } = await api!.ask(token, 'GET', '/api/posts/1')
    expect((await call('get', { resource: 'posts', id: 1 })).result).toEqual({ record: body, etag: headers.get('etag') })
    const scoped = await connect(1, ['posts:read'])
    expect((await scoped.call('get', { resource: 'posts', id: '1', fields: ['id', 'title'] })).result.record).toEqual({
      id: 1,
      title: 'first',
    })
    expect((await scoped.call('list', { resource: 'posts' })).text).not.toContain('s1')
    // Another tenant, and a record that does not exist.
    for (const id of [3, 99, 'x'])
      expect((await call('get', { resource: 'posts', id })).result.error).toEqual({
        status: 404,
        code: 'NOT_FOUND',
        message: 'There is no such record.',
      })
  })

  it('contain at most `maxRows` records and `maxBytes` bytes', async () => {
    await open({ maxRows: 5, maxBytes: 1024 })
    for (let index = 0; index < 9; index++) api!.client.prepare('insert into notes (body) values (?)').run('é'.repeat(120))
    const { call } = await connect(1)
    expect((await call('list', { resource: 'notes' })).result.error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('1024'),
    })
    const page = await call('list', { resource: 'notes', limit: 3 })
    expect([page.isError, page.result.data.length, page.result.meta.hasMore]).toEqual([false, 3, true])
    const next = await call('list', { resource: 'notes', limit: 3, cursor: page.result.meta.nextCursor })
    expect(next.result.data[0].id).toBe(4)
    expect((await call('aggregate', { resource: 'notes', groupBy: ['id'] })).result.data).toHaveLength(5)
  })

  it('leave out a written record that is too large, because it is written already', async () => {
    await open({ write: true, maxBytes: 1024 })
    const { call } = await connect(1)
    const { isError, result } = await call('create', { resource: 'notes', values: { body: 'x'.repeat(2000) } })
    expect([isError, result.done, rows('select count(*) n from notes')]).toEqual([false, true, [{ n: 2 }]])
  })

  it('of an error that is not for clients contain no detail', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    await open({}, { auth: { notes: { permissions: { read: true }, listFilter: () => {
      throw new Error('the secret detail')
    } } } })
    const { call } = await connect(1)
    expect((await call('list', { resource: 'notes' })).result).toEqual({ error: { status: 500, message: 'Something went wrong.' } })
    expect(log.mock.calls.flat().join(' ')).toContain('the secret detail')
    log.mockRestore()
  })
})

describe('writes', () => {
  it('create, update, delete and restore as the owner of the token, and the audit log says how', async () => {
    await openFull()
    const { call } = await connect(1)
    const created = await call('create', { resource: 'posts', values: { title: 'new', authorId: 1 } })
    const { id } = created.result.record
    const updated = await call('update', { resource: 'posts', id, values: { title: 'newer' }, ifMatch: created.result.etag })
    expect(updated.result.record).toMatchObject({ id, title: 'newer', organizationId: 1 })
    const stale = await call('update', { resource: 'posts', id, values: { title: 'x' }, ifMatch: created.result.etag })
    expect(stale.result.error.code).toBe('PRECONDITION_FAILED')

    const preview = await call('delete', { resource: 'posts', id })
    expect(preview.result).toMatchObject({ dryRun: true, permanent: false, affected: { posts: 1 }, confirm: expect.any(String) })
    expect(rows(`select deleted_at from posts where id = ${id}`)).toEqual([{ deleted_at: null }])
    expect((await call('delete', { resource: 'posts', id, confirm: 'yes' })).result.error).toMatchObject({
      code: 'CONFLICT',
      confirm: preview.result.confirm,
    })
    expect((await call('delete', { resource: 'posts', id: 1, confirm: preview.result.confirm })).isError).toBe(true)
    expect(rows('select count(*) n from posts where deleted_at is not null')).toEqual([{ n: 0 }])
    expect((await call('delete', { resource: 'posts', id, confirm: preview.result.confirm, reason: 'a test' })).result).toMatchObject({
      success: true,
      softDeleted: true,
    })
    expect((await call('restore', { resource: 'posts', id })).result.record).toMatchObject({ id, title: 'newer' })

    const history = await call('history', { resource: 'posts', id })
    expect(history.result.data.map(({ kind, via, userId, reason }: Record<string, unknown>) => [kind, via, userId, reason])).toEqual([
      ['restore', 'mcp', '1', null], ['delete', 'mcp', '1', 'a test'], ['update', 'mcp', '1', null], ['create', 'mcp', '1', null],
    ])
    expect((await call('history', { resource: 'posts', id: 3 })).result.error.code).toBe('NOT_FOUND')
    // The same write by HTTP is not one of MCP.
    const { token } = await api!.make(1)
    await api!.ask(token, 'PATCH', `/api/posts/${id}`, { body: { title: 'by HTTP' } })
    expect((await call('history', { resource: 'posts', id, limit: 1 })).result.data[0].via).toBe('token')
  })

  it('keep the rules of the resource', async () => {
    await open({ write: true })
    const { call } = await connect(2)
    const codes = await Promise.all([
      call('create', { resource: 'posts', values: { title: 'x' } }),
      call('update', { resource: 'posts', id: 1, values: { title: 'x' } }),
      call('update', { resource: 'posts', id: 2, values: { nope: 1 } }),
      call('delete', { resource: 'posts', id: 2 }),
      call('create', { resource: 'nope', values: {} }),
    ])
    expect(codes.map(({ result }) => result.error.code)).toEqual(['FORBIDDEN', 'NOT_FOUND', 'VALIDATION_FAILED', 'FORBIDDEN', 'NOT_FOUND'])
  })

  it('with one key take effect once', async () => {
    await openFull()
    const { call } = await connect(1)
    const write = async () => (await call('create', { resource: 'notes', values: { body: 'once' }, idempotencyKey: 'k1' })).result.record
    expect(await write()).toEqual({ id: 2, body: 'once' })
    expect(await write()).toEqual({ id: 2, body: 'once' })
    expect(rows('select count(*) n from notes')).toEqual([{ n: 2 }])
    const other = await call('create', { resource: 'notes', values: { body: 'other' }, idempotencyKey: 'k1' })
    expect(other.result.error.code).toBe('IDEMPOTENCY_MISMATCH')
    const { result: { confirm } } = await call('delete', { resource: 'posts', id: 1 })
    const remove = async () => (await call('delete', { resource: 'posts', id: 1, confirm, idempotencyKey: 'k2' })).result
    const first = await remove()
    expect(first.success).toBe(true)
    expect(await remove()).toEqual(first)
    expect((await call('delete', { resource: 'posts', id: 1, confirm })).result.error.code).toBe('NOT_FOUND')
  })

  it('do not take over the headers of the message, except its dry run', async () => {
    await openFull()
    const { token } = await api!.make(1)
    const create = (path: string, headers: Record<string, string>) =>
      api!.server.request('POST', path, {
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: message('tools/call', { name: 'create', arguments: { resource: 'notes', values: { body: 'x' } } }),
      })
    const count = () => rows('select count(*) n from notes')[0]!.n
    expect((await create('/api/mcp', { 'if-match': '*', 'idempotency-key': 'k' })).body.result.isError).toBeUndefined()
    expect((await create('/api/mcp', { 'idempotency-key': 'k' })).body.result.isError).toBeUndefined()
    expect(count()).toBe(3)
    for (const [path, headers] of [['/api/mcp?dryRun=true', {}], ['/api/mcp', { prefer: 'tx=rollback' }]] as const)
      expect(JSON.parse((await create(path, headers)).body.result.content[0].text).record).toEqual({ id: 4, body: 'x' })
    expect((await create('/api/mcp?dryRun=yes', {})).status).toBe(400)
    expect(count()).toBe(3)
  })

  it('refuse an operation that the resource has disabled', async () => {
    await openFull()
    const { call } = await connect(4)
    expect((await call('create', { resource: 'auditLog', values: {} })).result.error).toMatchObject({
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
    })
  })
})

describe('limits', () => {
  it('count each message once, by its operation', async () => {
    await open({ write: true }, { plugins: [rateLimit({ by: 'user', limit: 5, operations: { create: { limit: 1 } } })] })
    const token = (await api!.make(1)).token
    const { call } = await connectMcp({ token, fetch: request => api!.server.fetch(request) })
    // The client has sent `initialize` and a notification. The session of the user has made the token.
    const create = () => call('create', { resource: 'notes', values: { body: 'x' } })
    expect((await create()).result.error?.code).toBe('RATE_LIMITED')
    const codes: unknown[] = []
    for (let index = 0; index < 4; index++) codes.push((await call('list', { resource: 'notes' })).result.error?.code)
    expect(codes).toEqual([undefined, undefined, undefined, 'RATE_LIMITED'])
  })
})

describe('descriptions', () => {
  const wide = Array.from({ length: 200 }, (_, index) => ({
    name: `table${index}`,
    table: sqliteTable(`table_${index}`, {
      id: integer('id').primaryKey(),
      ...Object.fromEntries(Array.from({ length: 12 }, (_, column) => [`field${column}`, text(`field_${column}`)])),
    }),
  }))
  const registrations = wide.map(({ name, table }) => ({
    name,
    schema: table,
    authorization: { permissions: { read: true, create: true } as const },
  }))

  it('of 200 tables are bounded, and there are still nine tools', async () => {
    await openFull(
      { write: true },
      { registrations: [...registrations, { name: 'auditLog', schema: AUDIT_LOG, authorization: { permissions: { read: 'editor' } } }] },
    )
    const { call, client } = await connect(1)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(ALL)
    expect(JSON.stringify(tools).length).toBeLessThan(12_000)
    const all = await call('describe')
    expect([all.result.resources.length, all.result.omitted]).toEqual([203, undefined])
    expect(all.text.length).toBeLessThan(20_000)
    expect((await call('describe', { search: 'TABLE19' })).result.resources.map(({ name }: { name: string }) => name)).toEqual([
      'table19',
      ...Array.from({ length: 10 }, (_, index) => `table19${index}`),
    ])
    expect((await call('describe', { resource: 'table7' })).text.length).toBeLessThan(10_000)
  })

  it('that are too large leave out resources, or parts of a resource, and say so', async () => {
    await open({ write: true, maxBytes: 1500 }, { registrations })
    const { call } = await connect(1)
    const { result, text } = await call('describe')
    expect(text.length).toBeLessThanOrEqual(1500)
    expect(result.resources.length + result.omitted).toBe(202)
    const one = await call('describe', { resource: 'table7' })
    expect(one.text.length).toBeLessThanOrEqual(1500)
    expect(one.result).toMatchObject({
      name: 'table7',
      fields: { field11: { kind: 'text' } },
      omitted: ['bodies', 'relations', 'details of fields'],
    })
  })

  it('contain what the caller can use', async () => {
    await open({ write: true })
    const editor = await connect(1)
    const { result } = await editor.call('describe', { resource: 'posts' })
    expect(result).toMatchObject({
      name: 'posts',
      operations: ['read', 'aggregate', 'create', 'update', 'delete', 'restore'],
      primaryKey: ['id'],
      fields: { secret: { kind: 'text' } },
      bodies: { create: { type: 'object' } },
    })
    const reader = await connect(1, ['posts:read'])
    expect((await reader.call('describe')).result).toEqual({
      resources: [{ name: 'posts', label: 'Posts', operations: ['read', 'aggregate'] }],
    })
    const read = (await reader.call('describe', { resource: 'posts' })).result
    expect([Object.keys(read.fields).includes('secret'), read.operations]).toEqual([false, ['read', 'aggregate']])
    // Nothing is told about a resource that the caller cannot use, or that has no tool for it.
    expect((await reader.call('describe', { resource: 'notes' })).result).toEqual({ name: 'notes', operations: [] })
    await api!.close()
    await open()
    const creator = await connect(1, ['posts:create'])
    expect((await creator.call('describe', { resource: 'posts' })).result).toEqual({ name: 'posts', operations: [] })
  })
})

describe('options', () => {
  it('`resources` and `except` hide the other resources', async () => {
    await open({ resources: ['posts', 'notes'], except: ['notes'], path: '/agents/mcp', instructions: 'Posts of a newsroom.' })
    const { call, client } = await connect(4, undefined, '/api/agents/mcp')
    expect(client.getInstructions()).toBe('Posts of a newsroom.')
    expect((await call('describe')).result.resources.map(({ name }: { name: string }) => name)).toEqual(['posts'])
    for (const resource of ['notes', 'users', 'nope'])
      for (const tool of ['list', 'describe']) expect((await call(tool, { resource })).result.error.code).toBe('NOT_FOUND')
  })

  it.each([
    ['resources', { resources: ['post'] }],
    ['except', { except: ['post'] }],
  ])('`%s` with an unknown resource stops the server', async (name, options) => {
    await expect(openTokenApi({ plugins: [mcp(options)] })).rejects.toThrow(`\`mcp.${name}\` contains "post". Did you mean \`posts\`?`)
  })
})

describe('the protocol', () => {
  it('answers each kind of message', async () => {
    await open()
    const { client } = await connect(1)
    expect(client.getServerVersion()).toEqual({ name: 'nuxt-auto-api', version: '1.0.0' })
    expect(client.getServerCapabilities()).toEqual({ tools: {} })
    await client.ping()
    expect((await post(message('resources/list'))).body.error.code).toBe(-32601)
    expect((await post(message('tools/call', { name: 'drop' }))).body.error.code).toBe(-32602)
    const { status, text } = await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([status, text]).toEqual([202, ''])
    expect((await post(message('initialize', { protocolVersion: '2025-06-18' }))).body.result.protocolVersion).toBe('2025-06-18')
    expect((await post(message('initialize', { protocolVersion: '2019-01-01' }))).body.result.protocolVersion).toBe('2025-11-25')
  })

  it.each<[what: string, body: unknown, headers: Record<string, string>, status: number, code: string]>([
    ['a batch', [message('ping')], {}, 400, 'INVALID_BODY'],
    ['another protocol', { id: 1, method: 'ping' }, {}, 400, 'INVALID_BODY'],
    ['an unknown version', message('ping'), { 'mcp-protocol-version': '1999-01-01' }, 400, 'INVALID_VALUE'],
    ['a form', message('ping'), { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a message of another site', message('ping'), { 'sec-fetch-site': 'cross-site' }, 403, 'CROSS_SITE'],
    ['an invalid token', message('initialize'), { authorization: `Bearer aat_${'0'.repeat(49)}` }, 401, 'INVALID_TOKEN'],
    [
      'an invalid token of a call',
      message('tools/call', { name: 'list', arguments: { resource: 'notes' } }),
      { authorization: `Bearer aat_${'0'.repeat(49)}` },
      401,
      'INVALID_TOKEN',
    ],
  ])('refuses %s', async (_what, body, headers, status, code) => {
    await open()
    const response = await post(body, headers)
    expect([response.status, response.body.data.code]).toEqual([status, code])
    if (status === 401) expect(response.headers.get('www-authenticate')).toContain('invalid_token')
  })

  it('has no streams and no sessions', async () => {
    await open()
    for (const method of ['GET', 'DELETE']) expect((await api!.server.request(method, '/api/mcp')).status).toBe(405)
    expect((await post(message('initialize', { protocolVersion: '2025-11-25' }))).headers.get('mcp-session-id')).toBeNull()
  })

  it('does not exist without the plugin', async () => {
    api = await openTokenApi()
    expect((await post(message('ping'))).status).toBe(404)
  })

  it('looks a token up once for each call', async () => {
    await open()
    const { call } = await connect(1)
    await call('list', { resource: 'notes' })
    await new Promise(resolve => setTimeout(resolve, 5))
    api!.statements()
    await call('list', { resource: 'notes' })
    expect(api!.statements().filter(text => text.includes('api_tokens'))).toHaveLength(1)
  })
})
