/** Errors with codes of an app or a plugin: where they can be thrown, and what the client receives. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { defineEventHandler, type EventHandler } from 'h3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiPlugin } from '../../../../src/runtime/server/define'
import { createServer } from '../../../support/server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull() })

let client: Database.Database
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

const utils = () => import('../../../../src/runtime/server/utils/index')

async function throwQuota(): Promise<never> {
  const { apiError } = await utils()
  throw apiError('QUOTA_EXCEEDED', 'Your plan has 10 posts.', { status: 402, details: { limit: 10 }, headers: { 'x-plan': 'free' } })
}

async function open(parts: Omit<AutoApiPlugin, 'name'>, endpoints?: () => Promise<Record<string, EventHandler>>) {
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null)')
  return createServer({
    db: drizzle({ client }),
    registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { create: true, read: true } } }],
    plugins: [{ name: 'quota', ...parts }],
    endpoints,
  })
}

const RENDERED = {
  status: 402,
  phrase: 'Payment Required',
  message: 'Your plan has 10 posts.',
  data: { code: 'QUOTA_EXCEEDED', limit: 10 },
  header: 'free',
}

const NEVER: never = undefined as never

describe('an error of apiError', () => {
  it.each<[string, Omit<AutoApiPlugin, 'name'>, method: string, path: string]>([
    ['onRequest', { onRequest: throwQuota }, 'GET', '/api/posts'],
    ['extendContext', { extendContext: throwQuota }, 'GET', '/api/posts'],
    ['onCaller', { onCaller: throwQuota }, 'GET', '/api/posts'],
    ['around', { around: throwQuota }, 'GET', '/api/posts'],
    ['a before-hook', { hooks: { posts: { beforeCreate: throwQuota } } }, 'POST', '/api/posts'],
    ['an after-hook', { hooks: { posts: { afterCreate: throwQuota } } }, 'POST', '/api/posts'],
    ['a handler of a plugin', { routes: [{ method: 'POST', path: '/publish', handler: throwQuota }] }, 'POST', '/api/publish'],
  ])('has its status, code, message, details and headers when %s throws it', async (_where, parts, method, path) => {
    const server = await open(parts)
    const { status, body, headers } = await server.request(method, path, method === 'POST' ? { body: { title: 'x' } } : {})
    expect({ status, phrase: body.statusMessage, message: body.message, data: body.data, header: headers.get('x-plan') }).toEqual(RENDERED)
  })

  it('has its code when an endpoint throws it, and when a part throws it below getAutoApiContext', async () => {
    const server = await open({ onRequest: ({ header }) => header('x-throw') === undefined ? undefined : throwQuota() }, async () => {
      const { createEndpoint, getAutoApiContext } = await utils()
      return {
        'GET /api/endpoint': createEndpoint({ handler: throwQuota }),
        'GET /api/plain': defineEventHandler(async event => ({ user: (await getAutoApiContext(event)).user })),
      }
    })
    const answers = [
      await server.request('GET', '/api/endpoint'),
      await server.request('GET', '/api/plain', { headers: { 'x-throw': '1' } }),
    ]
    for (const { status, body, headers } of answers)
      expect({ status, phrase: body.statusMessage, message: body.message, data: body.data, header: headers.get('x-plan') }).toEqual(
        RENDERED,
      )
  })

  it('has its code in the entry of its bulk item', async () => {
    const server = await open({ hooks: { posts: { beforeCreate: data => data.title === 'tenth' ? throwQuota() : undefined } } })
    const { status, body } = await server.request('POST', '/api/posts/bulk', { body: { items: [{ title: 'a' }, { title: 'tenth' }] } })
    expect([status, body.data.errors]).toEqual([
      402,
      [{ index: 1, statusCode: 402, message: 'Your plan has 10 posts.', code: 'QUOTA_EXCEEDED' }],
    ])
    expect(client.prepare('select count(*) as n from posts').get()).toEqual({ n: 0 })
  })

  it('has the status of a code of the API', async () => {
    const { apiError } = await utils()
    expect(apiError('CONFLICT', 'Somebody approves it already.')).toMatchObject({ status: 409, data: { code: 'CONFLICT' } })
  })

  it.each<[string, unknown[], RegExp]>([
    ['a code in small letters', ['quota', 'x', { status: 402 }], /the code "quota"/],
    ['no code', [NEVER, 'x'], /the code undefined/],
    ['no message', ['QUOTA', NEVER, { status: 402 }], /message of `QUOTA` is undefined/],
    ['an own code without a status', ['QUOTA', 'x'], /`QUOTA` requires `status`/],
    ['a status that is no error', ['QUOTA', 'x', { status: 302 }], /It is 302/],
    ['the name of a property of every object', ['CONSTRUCTOR', 'x'], /requires `status`/],
    ['another status for a code of the API', ['CONFLICT', 'x', { status: 418 }], /with the status 409/],
    ['details that change the code', ['QUOTA', 'x', { status: 402, details: { code: 'OTHER' } }], /the key `code`/],
    ['details that are no object', ['QUOTA', 'x', { status: 402, details: null }], /`details` of `QUOTA`/],
    ['details that are a list', ['QUOTA', 'x', { status: 402, details: ['limit'] }], /`details` of `QUOTA`/],
    ['details with a bigint', ['QUOTA', 'x', { status: 402, details: { limit: 10n } }], /`details` of `QUOTA` cannot be converted to JSON/],
    ['a header with a line break', ['QUOTA', 'x', { status: 402, headers: { 'x-plan': 'a\r\nset-cookie: b' } }], /the header "x-plan"/],
    ['a header that is no text', ['QUOTA', 'x', { status: 402, headers: { 'x-plan': 1 } }], /the header "x-plan"/],
  ])('cannot have %s', async (_what, args, message) => {
    const { apiError } = await utils()
    expect(() => (apiError as (...args: unknown[]) => unknown)(...args)).toThrow(message)
  })
})
