/** Paths below the prefix that the app `paths` serves itself, and others that nothing handles. */
import { expect, it } from 'vitest'
import { NUXT } from '../../support/versions/nuxt'
import type { Server } from './server'

/** @param server the app, built or in development */
export function describeOwnPaths(server: () => Server): void {
  it.each([
    ['a file for one method', 'POST', '/api/hello', 'a file for POST'],
    ['a file for every path', 'GET', '/api/shop/x/y', 'a file for every path'],
    ['a file with a parameter', 'GET', '/api/cars/report', 'a file with a parameter'],
    ['a module', 'GET', '/api/of-module/x', 'a module'],
    ['a plugin', 'GET', '/api/_greetings', 'a plugin'],
    ['a middleware', 'GET', '/api/of-middleware/x', 'a middleware'],
    ['a public file', 'GET', '/api/file.json', 'a public file'],
  ])('leaves the paths of %s to it: %s %s', async (_, method, path, from) => {
    expect(await server().request(path, { method })).toMatchObject({ status: 200, body: { from } })
  })

  it('leaves routes of resources as they are', async () => {
    expect(await server().request('/api/posts')).toMatchObject({ status: 401, body: { data: { code: 'UNAUTHENTICATED' } } })
    expect(await server().request('/api/posts', { method: 'PUT' })).toMatchObject({ status: 405 })
    expect(await server().request('/api/_schema')).toMatchObject({ status: 200 })
  })

  it('leaves preflight requests and paths outside of the prefix to the app', async () => {
    expect((await server().request('/api/hello', { method: 'OPTIONS' })).status).not.toBe(404)
    for (const path of ['/', '/?next=/api/post']) {
      expect(await server().request(path)).toMatchObject({ status: 200, body: expect.stringContaining('<!DOCTYPE html>') })
    }
  })
}

export const UNKNOWN: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/api/post'],
  ['POST', '/api/post'],
  ['GET', '/api/post/1'],
  ['DELETE', '/api/post/1?force=true'],
  ['GET', '/api/posts/1/nothing'],
  ['GET', '/api/hello'],
  ['GET', '/api/_nothing'],
  ['GET', '/api/%F0%9F%98%80'],
  ['GET', '/api/post/_payload.json'],
]

export async function expectUnknown(server: Server, method: string, path: string, message: unknown): Promise<void> {
  for (const accept of ['*/*', 'text/html', 'application/json']) {
    const { status, headers, body } = await server.request(path, { method, headers: { accept } })
    expect([accept, status, headers.get('content-type')]).toEqual([accept, 404, expect.stringMatching(/^application\/json\b/)])
    expect(body).toMatchObject({ error: true, [NUXT.error.status]: 404, message, data: { code: 'NOT_FOUND' } })
    expect(body).not.toHaveProperty('stack')
    expect(headers.get('cache-control')).toBe('private, no-cache')
  }
  const problem = await server.request(path, { method, headers: { accept: 'application/problem+json' } })
  expect(problem).toMatchObject({ status: 404, body: { status: 404, code: 'NOT_FOUND', detail: message } })
  expect((await server.request(path, { method: 'HEAD' }))).toMatchObject({ status: 404, body: '' })
}
