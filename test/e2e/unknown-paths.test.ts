/** A path below the prefix that nothing handles returns a JSON 404. In development, the response names the registered resources. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildFixture } from './support/build'
import { startDevelopment, startServer, type Server } from './support/server'
import { NUXT } from '../support/versions/nuxt'
import { describeOwnPaths, expectUnknown, UNKNOWN } from './support/unknown-paths'

describe.each([
  ['without pages', 'bare'],
  ['with a page below the prefix', 'pages'],
  ['that only browsers render', 'spa'],
])('a built app %s', (_, variant) => {
  let server: Server
  beforeAll(async () => {
    server = await startServer(await buildFixture('paths', { variant }))
  })
  afterAll(() => server?.stop())

  it.each(UNKNOWN)('returns 404, without the names of resources: %s %s', async (method, path) => {
    await expectUnknown(server, method, path, 'There is no such route.')
  })

  describeOwnPaths(() => server)

  if (variant === 'pages') {
    it.each(['/api/guide', '/api/guide/?x=1', '/api/%67uide'])('renders its page: %s', async (path) => {
      expect(await server.request(path)).toMatchObject({ status: 200, body: expect.stringContaining('A guide below the prefix') })
    })
  }
})

// Otherwise Nuxt answers every page with 500.
if (NUXT.rendersInDevelopment) describe('an app in development', () => {
  let server: Server
  beforeAll(async () => {
    server = await startDevelopment('paths')
  })
  afterAll(() => server?.stop())

  it.each([
    ['GET', '/api/post', '`post` is not a registered resource. Did you mean `posts`? Registered: `comments`, `posts`.'],
    ['PATCH', '/api/coments/1', '`coments` is not a registered resource. Did you mean `comments`? Registered: `comments`, `posts`.'],
    ['GET', '/api/users', '`users` is not a registered resource. Registered: `comments`, `posts`.'],
    ['GET', '/api/posts/1/nothing', 'There is no route `GET /api/posts/1/nothing`.'],
    ['GET', '/api/hello', 'There is no route `GET /api/hello`.'],
  ])('returns 404 with the registered resources: %s %s', async (method, path, message) => {
    await expectUnknown(server, method, path, message)
  })

  describeOwnPaths(() => server)
})
