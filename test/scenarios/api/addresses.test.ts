/** The path of a record: the `Location` header names it, and an id written by hand finds it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openNotebook, type Notebook } from '../../support/notebook'

let notebook: Notebook

beforeAll(async () => {
  notebook = await openNotebook()
})

afterAll(() => notebook.client.close())

beforeEach(() => notebook.reset())

const TEXTS = [
  'plain',
  'a/b',
  'a b',
  'a,b',
  'a%b',
  'a%2Fb',
  'a?b',
  'a#b',
  'a+b',
  'a&b=c',
  'a;b',
  '"a"',
  '\'a\'',
  'ä',
  '日本',
  '👩‍🚀',
  '1e0',
  '<a>',
  '\\',
  '...',
  'a\tb',
  '~',
  '*',
  '[1]',
  '$&',
  'null',
]

describe('the Location of a record', () => {
  it.each(TEXTS)('finds the record for any text key: %j', async (slug) => {
    const made = await notebook.request('POST', '/api/labels', { body: { slug, name: 'new' } })
    expect(made.status).toBe(201)
    const location = made.headers.get('location')!
    expect(location).toMatch(/^\/api\/labels\/[\x21-\x7E]+$/)
    expect((await notebook.request('GET', location)).body).toEqual({ slug, name: 'new' })
    expect((await notebook.request('GET', `/api/labels/${encodeURIComponent(slug)}`)).body).toEqual({ slug, name: 'new' })
    expect((await notebook.request('PATCH', location, { body: { name: 'newer' } })).body).toEqual({ slug, name: 'newer' })
    expect((await notebook.request('DELETE', location)).status).toBe(200)
    expect((await notebook.request('GET', location)).status).toBe(404)
  })

  it.each(TEXTS)('finds the record for any composite key: %j', async (room) => {
    const made = await notebook.request('POST', '/api/seats', { body: { room, number: 7 } })
    expect(made.headers.get('location')).toBe(`/api/seats/${encodeURIComponent(room)},7`)
    expect((await notebook.request('GET', made.headers.get('location')!)).body).toEqual({ room, number: 7, label: null })
  })

  it('names a key that the database generates', async () => {
    const made = await notebook.request('POST', '/api/notes', { body: { title: 'new' } })
    expect([made.body.id, made.headers.get('location')]).toEqual([4, '/api/notes/4'])
  })

  it.each(['/api/labels?x=1', '/api/labels/', '/api/labels/?x=1'])(
    'is below the collection, for each spelling of the collection: %s',
    async (path) => {
      const made = await notebook.request('POST', path, { body: { slug: 'x', name: 'new' } })
      expect(made.headers.get('location')).toBe('/api/labels/x')
    },
  )
})

describe('the id of a composite key', () => {
  it.each([
    ['red,1', 'window'],
    // The id as `ids` has it, encoded once more by a client that encodes every id it puts into a path.
    ['red%2C1', 'window'],
    ['a%2Cb,1', 'comma'],
    ['a%252Cb%2C1', 'comma'],
  ])('is its values, each URL-encoded, joined by commas: %s', async (id, label) => {
    expect((await notebook.request('GET', `/api/seats/${id}`)).body?.label).toBe(label)
  })
})

describe('an encoded character of a path', () => {
  it('does not begin a query', async () => {
    for (const id of ['1%3Fforce=true', '1%3fforce=true']) expect((await notebook.request('DELETE', `/api/notes/${id}`)).status).toBe(404)
    for (const path of ['/api/notes%3Flimit=1', '/api/notes%3F/1']) expect((await notebook.request('GET', path)).status).toBe(404)
    expect((await notebook.request('GET', '/api/notes/1')).status).toBe(200)
  })

  it('does not begin a segment', async () => {
    expect((await notebook.request('GET', '/api/notes%2F1')).body.data).toBeUndefined()
    expect((await notebook.request('GET', '/api/labels/a%2F')).status).toBe(404)
  })

  it('is decoded in the resource\'s name', async () => {
    expect((await notebook.request('GET', '/api/%6Eotes/1')).body.id).toBe(1)
    expect((await notebook.request('PUT', '/api/%6Eotes/1')).headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE, OPTIONS')
  })
})

describe('a path of a text key', () => {
  it('is case-sensitive', async () => {
    expect((await notebook.request('GET', '/api/labels/a')).status).toBe(200)
    expect((await notebook.request('GET', '/api/labels/A')).status).toBe(404)
  })

  it.each(['/api/labels/a/', '/api/labels/a?x=1'])('can end in a slash or a query: %s', async (path) => {
    expect((await notebook.request('GET', path)).body).toEqual({ slug: 'a', name: 'A' })
  })

  it.each(['/api/labels/a/b', '/api/labelsa', '/api/label', '/api'])(
    'is not a path of the API when it is longer or has no resource: %s',
    async (path) => {
      expect((await notebook.request('GET', path)).body.data).toBeUndefined()
    },
  )
})
