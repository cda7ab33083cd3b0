/** A get sends the text that it hashed for the entity tag, unless a plugin changes the record. */
import { afterEach, expect, it } from 'vitest'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
import { ANN, openDesk, type Desk } from '../../support/desk'

let desk: Desk
afterEach(() => desk?.client.close())

async function getArticle(plugins: readonly AutoApiPlugin[]) {
  desk = await openDesk({ plugins })
  const { status, body, headers } = await desk.request('GET', '/api/articles/1', { caller: ANN })
  desk.client.close()
  return { status, body: body as Record<string, unknown>, etag: headers.get('etag')! }
}

const PLUGINS: readonly (readonly [string, AutoApiPlugin])[] = [
  ['changes the record in place', { name: 'probe', async around(_ctx, next) {
    const response = await next()
    ;(response.body as Record<string, unknown>).title = 'changed'
    return response
  } }],
  ['returns a copy', { name: 'probe', async around(_ctx, next) {
    const response = await next()
    return { ...response, body: { ...response.body as object, title: 'changed' } }
  } }],
  ['changes the record in onResponse', { name: 'probe', onResponse(_ctx, response) {
    ;(response.body as Record<string, unknown>).title = 'changed'
    return response
  } }],
]

it.each(PLUGINS)('has the changed record and another tag if a plugin %s', async (_, plugin) => {
  const [plain, changed] = [await getArticle([]), await getArticle([plugin])]
  expect(plain).toMatchObject({ status: 200, body: { id: 1 }, etag: expect.stringMatching(/^"[\w-]{16}"$/) })
  expect(changed.body).toEqual({ ...plain.body, title: 'changed' })
  const revision = plain.etag.slice(1, -1)
  expect(changed.etag).toMatch(new RegExp(`^"${revision}\\.[\\w-]{16}"$`))
})

it('has the same record and the same tag if a plugin only passes it on', async () => {
  const plain = await getArticle([])
  expect(await getArticle([{ name: 'probe', around: (_ctx, next) => next() }])).toEqual(plain)
})
