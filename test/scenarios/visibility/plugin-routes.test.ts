/**
 * Every plugin route follows the rules of the generated routes. The visibility matrix shows who sees and changes which row; this file shows
 * the rest: cross-site requests, disabled operations, methods, media types, size of the body, and what happens before authorization.
 */
import { existsSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { Operation } from '../../../src/runtime/shared/operations'
import { adminPlugin } from '../../../src/runtime/plugins/admin'
import type { AutoApiPlugin, IncomingRequest } from '../../../src/runtime/server/define'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { articlesAuth } from '../../fixtures/visibility/server/auth'
import { db, dump, put, reset } from '../../fixtures/visibility/server/database/client'
import * as schema from '../../fixtures/visibility/server/database/schema'
import { PLUGIN_REQUESTS, routeNameOf, TESTED_ELSEWHERE, type PluginRequest } from '../../support/matrix/plugin-routes'
import { CALLERS, COVER } from '../../support/matrix/reasons'
import { ID, type RequestOptions } from '../../support/matrix/requests'
import { createBuiltInPlugins } from '../../support/plugins'
import { createServer, type Answered, type Caller, type TestServer } from '../../support/server'

const ORIGIN = 'https://admin.example'
const MAX_BODY = 2_000

const MEMBER = CALLERS['a member'] as unknown as Caller

/** The operations of each request, as `onRequest` sees them. */
let counted: (readonly Operation[])[]

/** The caller of a key: a member of tenant 1, or an error for a key that is not valid. */
function userOfKey(key: string) {
  if (key !== 'valid') throw new Error('unknown key')
  return { user: { id: 1, organizationId: 1 }, permissions: ['articles'] }
}

async function open(disabled: readonly Operation[] = []): Promise<TestServer> {
  const registrations: ResourceRegistration[] = [
    { name: 'articles', schema: schema.articles, authorization: articlesAuth as never, protectedFields: ['cover'], disabled },
    // The plugin of the files names them.
    { name: 'closed', schema: schema.articles, protectedFields: ['cover'] },
    { name: 'forgotten', schema: schema.articles, protectedFields: ['cover'] },
    // A generated route of the same kind, to compare with.
    { name: 'tags', schema: schema.tags, authorization: { permissions: { read: true } } },
  ]
  return createServer({
    db,
    registrations,
    modules: [schema],
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, csrf: { origins: [ORIGIN] }, http: { ...DEFAULT_CONFIG.http, maxBodySize: MAX_BODY } },
    plugins: [
      async () => (await import('../../fixtures/visibility/server/api-plugins')).default,
      async () => (await import('../../fixtures/visibility/server/files')).default,
      {
        name: 'keys',
        credentials: (request: IncomingRequest) =>
          request.header('x-key') === undefined ? undefined : userOfKey(request.header('x-key')!),
      },
      { name: 'counter', onRequest: ({ operations }: IncomingRequest) => void counted.push(operations) },
    ],
  })
}

const rows = [...PLUGIN_REQUESTS.values()].map(request => ({ ...request, method: methodOf(request) }))
const writes = rows.filter(({ method }) => method !== 'GET')
const reads = rows.filter(({ method }) => method === 'GET')
const withBody = rows.filter(({ target }) => target('articles')[1]?.body !== undefined)
const ofResource = rows.filter(({ operation }) => operation !== undefined)

function methodOf({ target }: PluginRequest): string {
  return target('articles')[1]?.method ?? 'GET'
}

type Options = Partial<Parameters<TestServer['request']>[2]>

let server: TestServer
beforeEach(() => {
  counted = []
  reset()
  put('articles', { id: ID, organization_id: 1, title: 'plain', cover: COVER })
})

function send(request: PluginRequest, options: Options = {}, to = server): Promise<Answered> {
  const [path, { method = 'GET', body, headers }]: [string, RequestOptions] = [
    request.target('articles')[0],
    request.target('articles')[1] ?? {},
  ]
  const merged = { body, caller: MEMBER, ...options, headers: { ...headers, ...options?.headers } }
  return to.request(method, `/api${path}`, merged)
}

const outcome = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body.data?.code}`

/** The response to a request that the API refuses: nothing has changed. */
async function refusal(request: PluginRequest, options: Options, to = server): Promise<string> {
  const before = dump()
  const answer = await send(request, options, to)
  expect(dump()).toEqual(before)
  return outcome(answer)
}

describe('the table of plugin routes', () => {
  it('has a row for every route of the plugin of the visibility app, and for no other', async () => {
    const { default: titles } = await import('../../fixtures/visibility/server/api-plugins')
    const admin = adminPlugin({ hasMiddleware: true, branding: {}, pages: [], resources: {} }, {})
    const names = [titles as AutoApiPlugin, admin, ...createBuiltInPlugins()].flatMap(({ name, routes = [] }) =>
      routes.map(route => routeNameOf(name, route)),
    )
    expect([...PLUGIN_REQUESTS.keys(), ...Object.keys(TESTED_ELSEWHERE)].sort()).toEqual(names.sort())
    for (const file of Object.values(TESTED_ELSEWHERE)) expect(existsSync(file)).toBe(true)
  })

  it('has routes below a resource with and without an id, routes without a resource, and writes of each', () => {
    for (const shape of [
      /: GET \/:resource\/:id\//,
      /: GET \/:resource\/[^:]/,
      /: PUT \/:resource\/:id\//,
      /: POST \/:resource\/[^:]/,
      /: GET \/[^:]/,
      /: PUT \/[^:]/,
    ])
      expect(
        [...PLUGIN_REQUESTS.keys()].some(name => shape.test(name)),
        String(shape),
      ).toBe(true)
  })
})

describe.each(rows)('$route', (request) => {
  beforeAll(async () => {
    server = await open()
  })

  it('succeeds', async () => {
    expect(outcome(await send(request))).toBe(String(request.status))
  })

  it('is not cached by browsers or proxies', async () => {
    const { headers } = await send(request)
    const generated = (await server.request('GET', '/api/tags')).headers
    expect(generated.get('cache-control')).not.toBeNull()
    expect(headers.get('cache-control')).toBe(request.cacheControl ?? generated.get('cache-control'))
    expect(headers.get('vary')).toBe(generated.get('vary'))
  })

  it('returns 404 for a resource or a path that does not exist', async () => {
    const [path] = request.target('articles')
    for (const wrong of [path.replace('articles', 'magazines'), `${path}/more`, path.replace('articles', 'articles%2F')]) {
      if (wrong === path) continue
      const { status } = await server.request(methodOf(request), `/api${wrong}`, {
        body: request.target('articles')[1]?.body,
        caller: MEMBER,
      })
      expect(status, wrong).toBe(404)
    }
  })

  it('returns 405 with the methods of the path for other methods', async () => {
    const [path] = request.target('articles')
    const methods = ofPath(request).map(({ method }) => method)
    const allow = (await server.request('OPTIONS', `/api${path}`)).headers.get('allow')!.split(', ')
    expect(allow).toEqual(expect.arrayContaining([...methods, ...methods.includes('GET') ? ['HEAD'] : [], 'OPTIONS']))
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (allow.includes(method)) continue
      const answer = await server.request(method, `/api${path}`, { caller: MEMBER })
      expect([outcome(answer), answer.headers.get('allow')]).toEqual(['405 METHOD_NOT_ALLOWED', allow.join(', ')])
    }
  })

  it('counts as its operation for limits', async () => {
    await send(request)
    expect(counted).toEqual([request.operations ?? [request.operation ?? 'read']])
  })
})

/** The routes of the same path. */
const ofPath = (request: PluginRequest) => rows.filter(({ target }) => target('articles')[0] === request.target('articles')[0])

describe.each(reads)('$route', (request) => {
  beforeAll(async () => {
    server = await open()
  })

  it('can be read from a page of another site, as generated routes can', async () => {
    expect(outcome(await send(request, { headers: { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example' } }))).toBe('200')
  })

  it('answers HEAD with the status and the headers of GET', async () => {
    const [path] = request.target('articles')
    const options = { caller: MEMBER }
    const [get, head] = [await server.request('GET', `/api${path}`, options), await server.request('HEAD', `/api${path}`, options)]
    expect([head.status, head.text]).toEqual([get.status, ''])
    for (const name of ['content-type', 'cache-control', 'vary']) expect(head.headers.get(name), name).toBe(get.headers.get(name))
  })
})

describe.each(writes)('$route', (request) => {
  beforeAll(async () => {
    server = await open()
  })

  it.each<[from: string, headers: Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example' }],
    ['another site without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['an older browser on another site', { host: 'app.example', origin: 'https://evil.example' }],
  ])('is refused from %s, before the caller is resolved', async (_from, headers) => {
    expect(await refusal(request, { headers })).toBe('403 CROSS_SITE')
    expect(await refusal(request, { headers, caller: {} })).toBe('403 CROSS_SITE')
  })

  it.each<[from: string, headers: Record<string, string>]>([
    ['a listed origin', { 'sec-fetch-site': 'cross-site', 'origin': ORIGIN }],
    [
      'another site with a bearer token',
      { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example', 'authorization': 'Bearer abc' },
    ],
    ['its own site', { 'sec-fetch-site': 'same-origin' }],
  ])('is done from %s', async (_from, headers) => {
    expect(outcome(await send(request, { headers }))).toBe(String(request.status))
  })
})

describe.each(rows)('$route', (request) => {
  beforeAll(async () => {
    server = await open()
  })

  const foreign = { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example' }

  it('is done for a caller whom a plugin recognizes by a credential, from another site too', async () => {
    expect(outcome(await send(request, { caller: {}, headers: { ...foreign, 'x-key': 'valid' } }))).toBe(String(request.status))
  })

  it('returns 401 for a credential that a plugin refuses, regardless of the session', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await refusal(request, { headers: { 'x-key': 'expired' } })).toBe('401 UNAUTHENTICATED')
    expect(log).toHaveBeenCalledOnce()
    log.mockRestore()
  })
})

describe.each(withBody)('$route', (request) => {
  beforeAll(async () => {
    server = await open()
  })

  const accepted = request.accepts ?? 'application/json'
  const refused = [
    'text/plain',
    'application/x-www-form-urlencoded',
    ...(request.acceptsForms ? [] : ['multipart/form-data; boundary=x']),
    `${accepted}p`,
    '',
    request.accepts ? 'application/json' : 'text/csv',
  ]
  it.each(refused)('refuses the media type %j', async (type) => {
    expect(await refusal(request, { headers: { 'content-type': type } })).toBe('415 UNSUPPORTED_MEDIA_TYPE')
  })

  it('refuses a body above the limit, whatever length the client declares', async () => {
    const raw = JSON.stringify({ title: 'x'.repeat(MAX_BODY) })
    expect(await refusal(request, { raw })).toBe('413 PAYLOAD_TOO_LARGE')
    expect(await refusal(request, { raw, headers: { 'content-length': '5' } })).toBe('413 PAYLOAD_TOO_LARGE')
  })
})

describe.each(withBody.filter(({ accepts }) => !accepts))('$route', (request) => {
  beforeAll(async () => {
    server = await open()
  })

  it('refuses a body that is not JSON or not valid', async () => {
    expect(await refusal(request, { raw: '{' })).toBe('400 INVALID_BODY')
    expect(await refusal(request, { raw: '{"unknown":[]}' })).toBe('400 VALIDATION_FAILED')
  })
})

describe.each(withBody.filter(({ operation }) => operation))('$route', (request) => {
  beforeAll(async () => {
    server = await open()
  })

  it.each<[what: string, options: Options]>([
    ['another media type', { raw: 'x', headers: { 'content-type': 'text/plain' } }],
    ['a body above the limit', { raw: 'x'.repeat(MAX_BODY + 1) }],
    ['an invalid body', { raw: '{' }],
    ['no body', { body: undefined }],
  ])('checks the permission and the tenant before it reads the body: %s', async (_what, options) => {
    expect(await refusal(request, { ...options, caller: {} })).toBe('401 UNAUTHENTICATED')
    expect(await refusal(request, { ...options, caller: { user: { id: 1, organizationId: 1 }, permissions: [] } })).toBe('403 FORBIDDEN')
    expect(await refusal(request, { ...options, caller: CALLERS['a caller without a tenant'] as unknown as Caller })).toBe(
      '403 TENANT_REQUIRED',
    )
  })
})

describe.each(ofResource)('$route', (request) => {
  it('does not exist while the resource disables its operations, for any caller, and leaves the other methods of the path', async () => {
    const disabled = request.operations ?? [request.operation!]
    server = await open([...disabled])
    // A path of a generated route has its methods too.
    const options = await server.request('OPTIONS', `/api${request.target('articles')[0]}`)
    const allow = options.headers.get('allow')!
    expect(allow).not.toContain(request.method)
    for (const { method, operation } of ofPath(request)) if (!disabled.includes(operation!)) expect(allow).toContain(method)
    for (const caller of [CALLERS['a member'], CALLERS['the super-admin'], {}]) {
      const before = dump()
      const answer = await send(request, { caller: caller as unknown as Caller })
      expect([outcome(answer), answer.headers.get('allow')]).toEqual(['405 METHOD_NOT_ALLOWED', allow])
      expect(dump()).toEqual(before)
    }
  })
})

describe.each(rows.filter(({ operation, like }) => operation === undefined && like !== 'every caller'))('$route', (request) => {
  it('is refused by the server utils while the resource disables the operation, for any caller', async () => {
    server = await open([request.method === 'GET' ? 'read' : 'update'])
    expect(await refusal(request, {})).toBe('403 FORBIDDEN')
    expect(await refusal(request, { caller: CALLERS['the super-admin'] as unknown as Caller })).toBe('403 FORBIDDEN')
  })
})
