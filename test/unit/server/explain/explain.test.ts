/** The parts of explanations that need no request: callers as text, lines of rules, and which requests come from this machine. */
import { describe, expect, it } from 'vitest'
import { listensBeyond, markLocal } from '../../../../src/build/explain'
import { InvalidCaller, parseCaller } from '../../../../src/runtime/server/explain/as'
import { findPlaces } from '../../../../src/runtime/server/explain/find-places'
import { isLocal, LOCAL_HEADER } from '../../../../src/runtime/server/explain/local'
import { withPlace } from '../../../../src/runtime/server/explain/places'

describe('a caller as text', () => {
  it.each([
    ['', undefined],
    [' , ', undefined],
    ['anonymous', 'anonymous'],
    ['user:7', { user: { id: 7, permissions: [] }, permissions: [] }],
    ['user:ann,tenant:acme', { user: { id: 'ann', permissions: [] }, permissions: [], tenant: { id: 'acme' } }],
    ['role:editor, role:author', { user: { id: 0, role: 'editor', roles: ['editor', 'author'], permissions: [] }, permissions: [] }],
    ['permission:posts:write,tenant:2', { user: { id: 0, permissions: ['posts:write'] }, permissions: ['posts:write'], tenant: { id: 2 } }],
    ['user:007', { user: { id: '007', permissions: [] }, permissions: [] }],
  ])('%j', (text, caller) => {
    expect(parseCaller(text)).toEqual(caller)
  })

  it.each(['editor', 'role:', 'group:1', 'anonymous,role:editor', ':x'])('is refused: %s', (text) => {
    expect(() => parseCaller(text)).toThrow(InvalidCaller)
  })
})

describe('the place of a rule', () => {
  const FILES: Record<string, string> = {
    '/app/server/resources/posts.ts': `import { posts } from '../schema'

export default defineResource(posts, {
  permissions: { read: true,
    update: 'editor' },
  fields: {
    salary: {
      read: 'payroll',
    },
  },
})
`,
    '/app/server/auth.ts': `export const rules = defineAuthorization({
  permissions: imported,
  custom: { publish: {
    permissions: { update: 'publisher' } } },
})
const other = { read: true } satisfies object
export { other }
`,
    '/app/broken.ts': 'export const rules = {',
  }
  const places = findPlaces([
    { resource: 'posts', file: '/app/server/resources/posts.ts', shown: 'server/resources/posts.ts', name: 'default' },
    { resource: 'notes', file: '/app/server/auth.ts', shown: 'server/auth.ts', name: 'rules' },
    { resource: 'tags', file: '/app/server/auth.ts', shown: 'server/auth.ts', name: 'other' },
    { resource: 'broken', file: '/app/broken.ts', shown: 'broken.ts', name: 'rules' },
    { resource: 'gone', file: '/app/gone.ts', shown: 'gone.ts', name: 'rules' },
  ], (file) => {
    if (!(file in FILES)) throw new Error('ENOENT')
    return FILES[file]!
  })

  it.each([
    ['posts.authorization.permissions.read', 'server/resources/posts.ts:4'],
    ['posts.authorization.permissions.update', 'server/resources/posts.ts:5'],
    ['posts.authorization.fields.salary.read', 'server/resources/posts.ts:8'],
    ['posts.authorization.permissions.delete', 'server/resources/posts.ts:4'],
    ['posts.hiddenFields', 'server/resources/posts.ts:3'],
    ['posts', 'server/resources/posts.ts:3'],
    ['notes.authorization.permissions.read', 'server/auth.ts:2'],
    ['notes.authorization.custom.publish.permissions.update', 'server/auth.ts:4'],
    ['tags.authorization.permissions.read', 'server/auth.ts:6'],
    ['broken.authorization.permissions.read', 'broken.ts'],
    ['gone.authorization.permissions.read', 'gone.ts'],
    ['rows of the plugin x', undefined],
    ['multiTenancy: posts.organizationId', undefined],
  ])('%s is at %s', (rule, place) => {
    expect(withPlace({ rule }, places)).toEqual({ rule, ...place !== undefined && { place } })
  })
})

describe('a request of this machine', () => {
  const SECRET = 'the secret'
  const eventOf = (headers: Record<string, string>) => ({
    method: 'GET', path: '/', headers: new Headers(), context: {}, node: { req: { headers, url: '/', socket: {} }, res: {} },
  }) as never

  it.each([
    [{}, false],
    [{ host: 'localhost:3000' }, true],
    [{ host: '127.0.0.1' }, true],
    [{ host: '[::1]:3000' }, true],
    [{ host: 'app.localhost:3000' }, true],
    [{ host: 'evil.example' }, false],
    [{ host: 'localhost.evil.example' }, false],
    [{ host: '127.0.0.1.evil.example' }, false],
    [{ host: '192.168.0.2:3000' }, false],
    [{ 'host': 'localhost:3000', 'sec-fetch-site': 'same-origin' }, true],
    [{ 'host': 'localhost:3000', 'sec-fetch-site': 'none' }, true],
    [{ 'host': 'localhost:3000', 'sec-fetch-site': 'same-site' }, false],
    [{ 'host': 'localhost:3000', 'sec-fetch-site': 'cross-site' }, false],
    [{ host: 'localhost:3000', origin: 'http://localhost:3000' }, true],
    [{ host: 'localhost:3000', origin: 'http://localhost:4000' }, false],
    [{ host: 'localhost:3000', origin: 'null' }, false],
  ])('%j: %s', (headers, expected) => {
    expect(isLocal(eventOf({ ...headers, [LOCAL_HEADER]: SECRET }), SECRET)).toBe(expected)
    expect(isLocal(eventOf(headers), '')).toBe(expected)
  })

  it.each([undefined, '', 'guessed'])('has the secret of the process with the socket, not %j', (secret) => {
    expect(isLocal(eventOf({ host: 'localhost:3000', ...secret !== undefined && { [LOCAL_HEADER]: secret } }), SECRET)).toBe(false)
  })

  it.each([
    [undefined, {}, ['dev'], false],
    ['localhost', {}, ['dev', '--host', '127.0.0.1'], false],
    ['0.0.0.0', {}, ['dev'], true],
    ['', { HOST: '192.168.0.2' }, ['dev'], true],
    [undefined, { NUXT_HOST: '::1' }, ['dev'], false],
    [undefined, {}, ['dev', '--host'], true],
    [undefined, {}, ['dev', '--host=0.0.0.0'], true],
    [undefined, {}, ['dev', '--host=localhost', '--port', '1'], false],
  ])('a server with the host %j, %j and %j listens beyond this machine: %s', (host, env, args, expected) => {
    expect(listensBeyond(host, env, args)).toBe(expected)
  })

  it.each([
    ['127.0.0.1', true], ['127.8.8.8', true], ['::1', true], ['::ffff:127.0.0.1', true],
    ['192.168.0.2', false], ['::ffff:10.0.0.1', false], ['127.0.0.1.2', false], [undefined, false],
  ])('is marked by its address: %s', (remoteAddress, expected) => {
    // A client can send the header too.
    const headers: Record<string, string> = { [LOCAL_HEADER]: 'sent by the client' }
    markLocal(SECRET)({ node: { req: { headers, socket: { ...remoteAddress !== undefined && { remoteAddress } } } } })
    expect(headers).toEqual(expected ? { [LOCAL_HEADER]: SECRET } : {})
  })
})
