/** Errors below the prefix as Nitro renders them: JSON or problem details, for every client. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp, createError, defineEventHandler, toNodeListener, type H3Event } from 'h3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createErrorHandler, type NitroErrorHandler } from '../../../../src/runtime/server/http/error-handler'

const handler = createErrorHandler('/rest')
type Tools = Parameters<NitroErrorHandler>[2]

/** As the default handler of Nitro 2. */
const nitro2: Tools['defaultHandler'] = (error, event) => {
  const {
    statusCode = 500,
    statusMessage,
    message,
    data,
  } = error as Error & { statusCode?: number, statusMessage?: string, data?: unknown }
  return {
    status: statusCode,
    statusText: statusMessage,
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
    body: { error: true, url: `http://localhost${event.path}`, statusCode, statusMessage, message, data },
  }
}

const ACCEPTS = [
  undefined,
  '*/*',
  'text/html',
  'text/html,application/xhtml+xml,*/*;q=0.8',
  'application/json',
  'image/png',
  'application/problem+json',
  'x'.repeat(3000),
]

let url: string
const server = createServer(toNodeListener(createApp({
  debug: false,
  async onError(error, event) {
    await handler(error, event as never, { defaultHandler: nitro2 })
    if (!event.handled) (event.node.res as ServerResponse).setHeader('content-type', 'text/html').end('<html></html>')
  },
}).use(defineEventHandler((event: H3Event) => {
  if (event.path.includes('broken')) throw new Error('secret of the app')
  throw createError({ statusCode: 404, statusMessage: 'Not Found', message: 'There is no such record.', data: { code: 'NOT_FOUND' } })
}))))

beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => server.close())

const ask = async (path: string, accept?: string) => {
  const response = await fetch(url + path, { headers: accept === undefined ? {} : { accept } })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

describe.each(['/rest', '/rest?x=1', '/rest/posts/7', '/rest/posts/7?token=hush', '/rest/nothing/at/all'])('an error of %s', (path) => {
  it.each(ACCEPTS.map(accept => [accept?.slice(0, 40), accept]))(
    'is JSON, or problem details if the client names them: %s',
    async (_, accept) => {
      const { status, type, text } = await ask(path, accept)
      const isProblem = accept === 'application/problem+json'
      expect([status, type]).toEqual([404, isProblem ? 'application/problem+json' : 'application/json'])
      expect(JSON.parse(text)).toMatchObject(
        isProblem
          ? { status: 404, detail: 'There is no such record.', code: 'NOT_FOUND' }
          : { error: true, statusCode: 404, url: path.split('?')[0], data: { code: 'NOT_FOUND' } },
      )
      expect(text).not.toContain('hush')
    },
  )
})

it.each(['/', '/restaurants', '/about?next=/rest/posts'])('leaves the errors of other paths to the handlers of Nuxt: %s', async (path) => {
  expect(await ask(path)).toMatchObject({ type: 'text/html' })
})

describe('with Nitro 3', () => {
  const nitro3: Tools['defaultHandler'] = error => ({
    status: 404,
    statusText: 'Not Found',
    headers: new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-own': '1' }),
    body: { error: true, status: 404, message: error.message },
  })
  const event = (accept: string) => {
    const req = new Request('http://localhost/rest/posts/7?token=hush', { headers: { accept } })
    return {
      path: '/rest/posts/7?token=hush',
      headers: req.headers,
      req,
      res: {
        headers: new Headers({ 'allow': 'GET', 'cache-control': 'private, no-cache', 'content-type': 'text/csv', 'content-length': '7' }),
      },
      node: { req: {}, res: {} },
    }
  }

  it.each([
    ['*/*', 'application/json; charset=utf-8', { error: true, status: 404, message: 'gone' }],
    ['application/problem+json', 'application/problem+json', { status: 404, detail: 'gone' }],
  ])('returns a response: %s', async (accept, type, body) => {
    const response = await handler(new Error('gone'), event(accept) as never, { defaultHandler: nitro3 })
    expect([response!.status, response!.headers.get('content-type'), response!.headers.get('x-own')]).toEqual([404, type, '1'])
    // What the API has set for the response, without the headers of its body.
    expect(['allow', 'cache-control', 'content-length'].map(name => response!.headers.get(name))).toEqual([
      'GET',
      'private, no-cache',
      null,
    ])
    expect(await response!.json()).toMatchObject(body)
  })

  it('leaves a redirect to the base URL as it is', async () => {
    expect(
      await handler(new Error('gone'), event('*/*') as never, {
        defaultHandler: () => ({ status: 302, headers: new Headers({ location: '/app/' }) }),
      }),
    ).toBeUndefined()
  })
})
