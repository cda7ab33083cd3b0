/** Behaviour that does not depend on the prefix: the app's own routes, the methods of a path, the shape of an error. */
import { beforeEach, describe, expect, it } from 'vitest'
import { errorBody } from '../support/versions/nuxt'
import type { VisibilityApp } from './support/visibility'

const member = { user: { id: 1, organizationId: 1 }, permissions: ['articles'] }

export function describeOwnRoutes(app: () => VisibilityApp, prefix: string): void {
  beforeEach(async () => {
    await app().putRows({ articles: [{ id: 1, organization_id: 1, title: 'plain', note: 'hidden' }] })
  })

  it('runs a plugin that a module registers', async () => {
    expect((await app().request(`${prefix}/articles/1`)).headers.get('x-polite')).toBe('please')
  })

  describe('a file route of the app', () => {
    it('wins over a generated path with a parameter', async () => {
      expect(await body(`${prefix}/articles/mine`)).toEqual({ from: 'the app', what: 'my articles' })
    })

    it('wins over the generated route of the same method and path', async () => {
      expect(await body(`${prefix}/tags`)).toEqual({ from: 'the app', what: 'tags' })
    })

    it('leaves the path\'s other methods to the API', async () => {
      const made = await app().request(`${prefix}/tags`, { method: 'POST', body: { name: 'new' } })
      expect({ status: made.status, body: made.body }).toEqual({ status: 201, body: { id: 4, name: 'new' } })
      expect(await body(`${prefix}/tags/4`)).toEqual({ id: 4, name: 'new' })
    })

    it.each(['/nothing', '/nothing/1', '/articlesx', '/article', '/articles/1/nothing', '/_nothing'])(
      'answers a path without a resource: <prefix>%s',
      async (path) => {
        const answer = await app().request(prefix + path)
        expect(answer).toMatchObject({ status: 418, body: { from: 'the app', method: 'GET' } })
      },
    )
  })

  describe('a method that a path does not support', () => {
    it.each([
      ['PUT', '/articles', 'GET, HEAD, POST, OPTIONS'],
      ['DELETE', '/articles', 'GET, HEAD, POST, OPTIONS'],
      ['POST', '/articles/1', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
      ['PUT', '/articles/1', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
      ['PUT', '/tags', 'GET, HEAD, POST, OPTIONS'],
      ['PATCH', '/articles/aggregate', 'GET, HEAD, OPTIONS'],
    ])('returns 405 with the supported methods, and does not reach the app: %s %s', async (method, path, allow) => {
      const { status, headers, body } = await app().request(prefix + path, { method })
      expect({ status, code: body.data?.code, allow: headers.get('allow') }).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED', allow })
    })
  })

  describe('an error', () => {
    it.each([
      ['/articles', {}, { ...errorBody(401, 'Unauthorized'), message: 'Sign in to do this.', data: { code: 'UNAUTHENTICATED' } }],
      [
        '/articles/99',
        { caller: member },
        { ...errorBody(404, 'Not Found'), message: 'There is no such record.', data: { code: 'NOT_FOUND' } },
      ],
      [
        '/articles?page=0',
        { caller: member },
        { ...errorBody(400, 'Bad Request'), message: expect.stringContaining('page'), data: { code: 'INVALID_QUERY', parameter: 'page' } },
      ],
    ])('has Nuxt\'s shape and a stable code, and no stack: %s', async (path, options, expected) => {
      const answer = await app().request(prefix + path, options)
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(answer.body).toMatchObject(expected)
      const problem = await app().request(prefix + path, { ...options, headers: { accept: 'application/problem+json' } })
      expect([problem.status, problem.headers.get('content-type'), problem.headers.get('cache-control')]).toEqual([
        answer.status,
        'application/problem+json',
        answer.headers.get('cache-control'),
      ])
      expect(problem.body).toMatchObject({ status: answer.status, detail: answer.body.message, ...answer.body.data })
      expect(answer.body.stack ?? []).toEqual([])
    })
  })

  describe('a record', () => {
    it('is returned without its hidden fields', async () => {
      const { status, body } = await app().request(`${prefix}/articles/1`, { caller: member })
      expect({ status, body }).toEqual({
        status: 200,
        body: { id: 1, organizationId: 1, title: 'plain', status: 'open', cover: null, deletedAt: null, deletionId: null },
      })
    })

    it('is returned at the Location of its creation', async () => {
      const made = await app().request(`${prefix}/articles`, { method: 'POST', body: { title: 'made' }, caller: member })
      expect([made.status, made.headers.get('location')]).toEqual([201, `${prefix}/articles/${made.body.id}`])
      expect(await body(made.headers.get('location')!, member)).toEqual(made.body)
    })

    it('is not deleted by a query that is part of an id', async () => {
      const before = await app().rows()
      expect((await app().request(`${prefix}/articles/1%3Fforce=true`, { method: 'DELETE', caller: member })).status).toBe(404)
      expect(await app().rows()).toEqual(before)
    })
  })

  async function body(path: string, caller?: object): Promise<unknown> {
    return (await app().request(path, { ...caller && { caller } })).body
  }
}
