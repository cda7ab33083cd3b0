/** A relation is as secret as the key it follows: wherever a relation can be named, a secret one is answered as one that does not exist. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callerOf, openNewsdata, type Newsdata } from '../../support/newsdata/server'
import type { Viewer } from '../../support/oracle/model'

let server: Newsdata

beforeAll(async () => {
  server = await openNewsdata()
})

afterAll(() => server.client.close())

const query = (include: unknown) =>
  String(new URLSearchParams({ include: typeof include === 'string' ? include : JSON.stringify(include) }))

/** Every place in which the name of a relation of articles can stand, and of one of authors. */
const ARTICLES: Record<string, (name: string) => string> = {
  'as text': name => `articles?${query(name)}`,
  'as text, with fields': name => `articles?${query(`${name}[id]`)}`,
  'as text, among others': name => `articles?${query(`tags,${name}.mentor`)}`,
  'as text, below another': name => `authors?${query(`articlesByAuthor.${name}`)}`,
  'as JSON': name => `articles?${query({ [name]: true })}`,
  'as JSON, below another': name => `tags?${query({ articles: { include: { [name]: { fields: ['id'] } } } })}`,
  'of one record': name => `articles/1?${query(name)}`,
}
const AUTHORS: Record<string, (name: string) => string> = {
  'as text, with options': name => `authors?${query(`${name}{limit:1}`)}`,
  'as JSON, with options': name => `authors?${query({ [name]: { limit: 1, sort: 'id', filter: { id: 1 } } })}`,
  'below another': name => `articles?${query(`author.${name}`)}`,
}

const PLACES = [
  ...Object.entries(ARTICLES).map(([place, path]) => ({ place, path, hidden: 'ghost', unreadable: 'reviewer' })),
  ...Object.entries(AUTHORS).map(([place, path]) => ({ place, path, hidden: 'articlesByGhost', unreadable: 'articlesByReviewer' })),
]

const ANYBODY: Viewer = { tenant: 1, permissions: [] }
const HR: Viewer = { tenant: 1, permissions: ['hr'] }

describe.each(PLACES)('an include, $place', ({ path, hidden, unreadable }) => {
  const ask = async (name: string, viewer = ANYBODY) => (await server.request('GET', `/api/${path(name)}`, { caller: callerOf(viewer) }))

  it.each([
    ['hidden', hidden],
    ['unreadable', unreadable],
  ])('treats a relation over a %s key like one that does not exist', async (_, name) => {
    const [secret, missing] = [await ask(name), await ask('nobody')]
    expect([missing.status, missing.body.data]).toEqual([400, { code: 'UNKNOWN_RELATION', parameter: 'include', relation: 'nobody' }])
    // A name that is close to that of a relation of the caller gets a suggestion, whether it exists or not.
    expect(secret.text.replace(/ Did you mean `articlesBy(?:Author|Editor)`\?/, '')).toBe(missing.text.replaceAll('nobody', name))
  })

  it('returns the relation to a caller who can read its key, and the one over a hidden key to no caller', async () => {
    expect((await ask(unreadable, HR)).status).toBe(200)
    expect((await ask(hidden, { tenant: 1, permissions: ['hr', '*'] })).status).toBe(400)
  })
})

describe('the list of a relation', () => {
  it('returns 404 for a relation that does not exist or that the caller cannot read', async () => {
    const { id } = server.data.authors!.find(row => row.organizationId === 1)!
    const ask = (name: string, viewer = ANYBODY) =>
      server.request('GET', `/api/authors/${String(id)}/relations/${name}`, { caller: callerOf(viewer) })
    const missing = await ask('nobody')
    expect(missing.status).toBe(404)
    for (const name of ['articlesByGhost', 'articlesByReviewer'])
      expect((await ask(name)).text).toBe(missing.text.replaceAll('nobody', name))
    expect((await ask('articlesByReviewer', HR)).status).toBe(200)
  })
})
