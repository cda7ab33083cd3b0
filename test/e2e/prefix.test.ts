/** With another prefix, and below the app's base URL, the API has its routes there and nowhere else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startVisibilityApp, type VisibilityApp } from './support/visibility'
import { describeErrors } from './errors'
import { describeHttp } from './http'
import { describeOwnRoutes } from './own-routes'

const base = '/shop'
const prefix = `${base}/data/v1`
let app: VisibilityApp

beforeAll(async () => {
  app = await startVisibilityApp({ variant: 'prefixed', base: `${base}/` })
})

afterAll(() => app?.stop())

describeOwnRoutes(() => app, prefix)

describeHttp(() => app, prefix)

describeErrors(() => app, prefix, `${base}/`)

describe('the default prefix', () => {
  it.each(['/api/articles', '/api/articles/1', '/api/articles/1/restore'])('belongs to the app: %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect(await app.request(base + path, { method })).toMatchObject({ status: 418, body: { from: 'the app', method } })
    }
  })
})

describe('the OpenAPI document', () => {
  let other: VisibilityApp

  beforeAll(async () => {
    other = await startVisibilityApp()
  })

  afterAll(() => other?.stop())

  it.each([
    ['an anonymous caller', undefined],
    ['an editor', { user: { id: 1, role: 'editor', organizationId: 1 }, permissions: [] }],
  ])('of %s has the same text in another build, except for addresses', async (_, caller) => {
    const textOf = async (server: VisibilityApp, below: string) =>
      JSON.stringify((await server.request(`${below}/_openapi.json`, { caller })).body)
    const text = await textOf(app, prefix)
    expect(JSON.parse(text).paths).toHaveProperty(['/data/v1/tags'])
    expect(text.replaceAll('/data/v1', '/api').replaceAll('"/shop"', '"/"').replaceAll('/shop/', '/')).toBe(await textOf(other, '/api'))
  })
})
