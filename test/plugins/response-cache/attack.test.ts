/** Attacks on the response cache: nobody reads, confirms or changes what is stored for another caller. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBoard, STAFF, user, type Board } from './board'
import type { Caller, TestServer } from '../../support/server'

let board: Board
let cached: TestServer
let plain: TestServer
beforeEach(async () => {
  board = createBoard()
  board.client.exec(`update posts set secret = 'hidden-' || organization_id || '-' || id`)
  cached = await board.open()
  plain = await board.open(false)
})
afterEach(() => board.client.close())

const { permissions } = STAFF
/** The text of the victim in a key, in the hope that a value of another caller ends in the middle of it. */
const IMITATION = JSON.stringify([STAFF.user, permissions]).slice(1, -1)

const ATTACKERS: readonly (readonly [who: string, caller: Caller])[] = [
  ['an anonymous caller', { user: null }],
  ['another user', user(1)],
  ['the same id with another role', user(3)],
  ['the same id and role in another tenant', user(3, 'globex', 'editor', permissions)],
  ['the same user without permissions', user(3, 'acme', 'writer', [])],
  ['a name that contains the text of the victim', user(1, 'acme', `writer"},${IMITATION}`)],
  ['a permission that contains the text of the victim', user(1, 'acme', 'writer', [`reader"],${IMITATION}`])],
  ['properties in another order', { user: { role: 'writer', organizationId: 'acme', id: 3 }, permissions: ['staff', 'reader'] }],
  ['an id of another type', { user: { ...user(3).user, id: '3' }, permissions: ['reader'] }],
  [
    'a property named like a prototype',
    { user: Object.assign(JSON.parse('{"__proto__":{"role":"editor"}}') as object, user(3).user), permissions: ['reader'] },
  ],
]

const PATHS = [
  '/posts',
  '/posts/1',
  '/posts?fields=id,title',
  '/posts?include=comments,tags',
  '/posts?includeDeleted=true',
  '/posts/aggregate?aggregate=count',
  '/members',
  '/teams?include=posts',
  '/posts/1/relations/tags',
]

/** What an attacker can add to a request for a path. */
const TRICKS: readonly (readonly [what: string, query: string, headers: Record<string, string>])[] = [
  ['nothing', '', {}],
  [
    'headers that name a caller',
    '',
    { 'x-user': '3', 'x-forwarded-user': '3', 'x-tenant-id': 'acme', 'cookie': 'session=staff', 'authorization': 'Basic c3RhZmY6' },
  ],
  [
    'headers of caches',
    '',
    { 'cache-control': 'only-if-cached', 'x-cache-key': 'posts', 'x-original-url': '/api/posts', 'x-http-method-override': 'GET' },
  ],
  ['a parameter with the text of the victim', `&x=${encodeURIComponent(IMITATION)}`, {}],
  ['the parameter `__proto__`', '&__proto__[user][role]=editor&constructor=x', {}],
  ['the name of a key', '&user=3&permissions=staff&tenant=acme&credential=', {}],
]

async function send(server: TestServer, caller: Caller, path: string, query = '', headers: Record<string, string> = {}) {
  const {
    status,
    text,
    headers: sent,
  } = await server.request('GET', `/api${path}${query && (path.includes('?') ? query : `?${query.slice(1)}`)}`, { caller, headers })
  return { status, text, etag: sent.get('etag') }
}

it.each(ATTACKERS)('%s gets the responses without the cache, whatever is stored for others', async (_who, attacker) => {
  for (const path of PATHS) {
    const victim = await send(plain, STAFF, path)
    expect(await send(cached, STAFF, path)).toEqual(victim)
    for (const [, query, headers] of TRICKS) {
      const own = await send(cached, attacker, path, query, headers)
      expect(own).toEqual(await send(plain, attacker, path, query, headers))
      expect(own.text).not.toContain('hidden-acme')
      // The attacker knows the tag of the victim, and asks whether it is still right.
      const asked = await send(cached, attacker, path, query, { ...headers, 'if-none-match': victim.etag! })
      expect(asked.status === 304).toBe(own.etag === victim.etag)
    }
    // Nothing that the attacker has sent is stored for the victim.
    expect(await send(cached, STAFF, path)).toEqual(victim)
  }
  expect((await send(cached, STAFF, '/posts/1')).text).toContain('hidden-acme-1')
})
