/** Which responses become entries, with which properties, and the responses that are made of entries. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTextResponse, findText, type ApiResponse } from '../../../src/runtime/server/core/extensions/response'
import { tagBody } from '../../../src/runtime/server/http/etag'
import { eventHeaders, toEntry, toHit, toResponse } from '../../../src/runtime/plugins/response-cache/server/responses'
import type { Entry } from '../../../src/runtime/plugins/response-cache/server/store'

const NOW = 1_700_000_000_000
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
afterEach(() => void vi.useRealTimers())

const RESPONSE: ApiResponse = { status: 200, body: { id: 1 }, reads: ['posts'] }
const tagged = { text: '{"id":1}', etag: tagBody(RESPONSE)!.etag }

describe('a response becomes an entry', () => {
  it('with its text, its tag, what it was read from, and its end', async () => {
    expect(await toEntry(RESPONSE, 30)).toStrictEqual({ ...tagged, reads: ['posts'], expires: NOW + 30_000 })
  })

  it('with its revision and its headers, if it has them', async () => {
    const { etag } = tagBody({ ...RESPONSE, revision: 'r' })!
    expect(etag).not.toBe(tagged.etag)
    expect(await toEntry({ ...RESPONSE, revision: 'r', headers: { 'X-A': 'b' } }, 1))
      .toStrictEqual({ text: '{"id":1}', etag, reads: ['posts'], expires: NOW + 1_000, revision: 'r', headers: { 'X-A': 'b' } })
    expect(await toEntry({ ...RESPONSE, headers: {} }, 1)).toHaveProperty('headers', {})
  })

  it('without parsing its text', async () => {
    const text = createTextResponse({ status: 200, reads: [] }, { text: 'no JSON', etag: '"tag"' })
    expect(await toEntry(text, 1)).toMatchObject({ text: 'no JSON', etag: '"tag"' })
  })

  it.each([
    ['Content-Language', 'no-store'],
    ['Cache-Control', 'private, max-age=0'],
    ['X-Cache-Control', 'no-store'],
    ['Cache-Control-X', 'no-store'],
    ['X-Set-Cookie', 'a=1'],
    ['Set-Cookie-X', 'a=1'],
  ])('with the header %s: %s', async (name, value) => {
    expect((await toEntry({ ...RESPONSE, headers: { [name]: value } }, 1))?.headers).toEqual({ [name]: value })
  })
})

describe('a response does not become an entry', () => {
  it.each([
    ['Set-Cookie', 'a=1'], ['set-cookie', ''], ['SET-COOKIE', 'a=1'], ['Cache-Control', 'no-store'], ['cache-control', 'private, NO-STORE'],
    ['CACHE-CONTROL', 'no-store, max-age=0'],
  ])('with the header %s: %s, wherever it is', async (name, value) => {
    expect(await toEntry({ ...RESPONSE, headers: { [name]: value } }, 1)).toBeUndefined()
    expect(await toEntry({ ...RESPONSE, headers: { 'X-A': 'b', [name]: value, 'X-C': 'd' } }, 1)).toBeUndefined()
  })

  it.each<[string, Partial<ApiResponse>]>([
    ['has another status', { status: 201 }], ['is an error', { status: 404 }], ['does not say what it was read from', { reads: undefined }],
    ['names a created record', { created: '1' }], ['is a text', { body: 'text' }], ['is a stream', { body: (async function* () {})() }],
    ['is an instance of a class', { body: new class { id = 1 }() }], ['is null', { body: null }],
  ])('if it %s', async (_what, changes) => {
    expect(await toEntry({ ...RESPONSE, ...changes }, 1)).toBeUndefined()
  })
})

const ENTRY: Entry = { ...tagged, reads: ['posts'], expires: NOW + 1_001 }

describe('the response of an entry', () => {
  it('has the properties of the entry, and the state of the cache as a header', () => {
    const response = toResponse({ ...ENTRY, revision: 'r', headers: { 'X-A': 'b' } }, 'state')
    expect(response).toEqual({
      status: 200, body: { id: 1 }, revision: 'r', reads: ['posts'], headers: { 'X-A': 'b', 'Cache-Status': 'auto-api; state' },
    })
    expect(findText(toResponse(ENTRY, 'state'))).toEqual(tagged)
  })

  it('cannot change the headers of another one', () => {
    const entry = { ...ENTRY, headers: { 'X-A': 'b' } }
    const response = toResponse(entry, 'state')
    expect(() => Object.assign(response.headers!, { 'X-A': 'c' })).toThrow(TypeError)
    expect(toResponse(entry, 'state').headers!['X-A']).toBe('b')
  })
})

describe('a hit', () => {
  const statusAt = (milliseconds: number, shares = true) => {
    vi.setSystemTime(ENTRY.expires - milliseconds)
    return toHit(ENTRY, shares).headers!['Cache-Status']
  }

  it.each([true, false])('says how many seconds are left, rounded up, and never fewer than none (shared: %s)', (shares) => {
    expect([2_001, 2_000, 1_001, 1_000, 1, 0, -1, -5_000].map(left => statusAt(left, shares)))
      .toEqual([3, 2, 2, 1, 1, 0, 0, 0].map(seconds => `auto-api; hit; ttl=${seconds}`))
  })

  it('that is shared is one frozen object for the requests of a second', () => {
    const first = toHit(ENTRY, true)
    expect(Object.isFrozen(first)).toBe(true)
    expect(toHit(ENTRY, true)).toBe(first)
    expect(toHit({ ...ENTRY }, true)).not.toBe(first)
    vi.setSystemTime(NOW + 1)
    const later = toHit(ENTRY, true)
    expect(later).not.toBe(first)
    expect(toHit(ENTRY, true)).toBe(later)
  })

  it('that is not shared is an object of its own for each request', () => {
    const own = toHit(ENTRY, false)
    expect(Object.isFrozen(own)).toBe(false)
    expect(toHit(ENTRY, true)).not.toBe(own)
    expect(toHit(ENTRY, false)).not.toBe(toHit(ENTRY, true))
  })
})

describe('the headers of an event', () => {
  it('are those of Node\'s response, or those of a web response', () => {
    const node = { res: { getHeaders: () => ({ 'x-a': 'b' }) } }
    expect(eventHeaders({ node })).toBe('[["x-a","b"]]')
    const req = { headers: new Headers() }
    expect(eventHeaders({ req, res: { headers: new Headers({ 'X-C': 'd' }) }, node })).toBe('[["x-c","d"]]')
  })

  it.each([
    {},
    { res: {} },
    { node: {} },
    { node: { res: {} } },
    { node: { res: { getHeaders: () => ({}) } } },
    { res: { headers: new Headers() } },
  ])('are none in %j', (event) => {
    expect(eventHeaders(event)).toBe('[]')
  })
})
