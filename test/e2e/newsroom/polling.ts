/** Live queries on a platform without streams: the route says how often to ask again, and a browser does. */
import { createReadStream } from 'node:fs'
import { createServer, request as send, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { launch, load } from './browser'
import { EDITOR } from './callers'
import type { Edge } from './edge'

export function describePolling(newsroom: () => Edge): void {
  const open = (query: string, headers: Record<string, string> = {}) => fetch(`${newsroom().directUrl}/api/_live${query}`, { headers })

  it('get the interval instead of a stream', async () => {
    const response = await open('?resources=posts,tags')
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200, 'text/event-stream; charset=utf-8', 'event: poll\ndata: {"interval":1000}\n\n',
    ])
  })

  it.each([
    ['without a resource', '', {}, 400],
    ['for a name that is no resource', '?resources=posts,nothing', {}, 400],
    ['for a resource that the caller cannot read', '?resources=posts,auditLog', {}, 401],
    ['for a page of another site', '?resources=posts', { origin: 'https://elsewhere.example' }, 403],
  ])('are refused %s', async (_, query, headers, status) => {
    expect((await open(query, headers)).status).toBe(status)
  })

  it('are sent again by a browser: the responses are 304 until something changes, and then the page shows it', async () => {
    const [tag] = newsroom().rows<{ id: number }>('select id from tags where organization_id = 1 order by id limit 1')
    const rename = async (name: string) => {
      const { status, body } = await newsroom().request(`/api/tags/${tag!.id}`, { method: 'PATCH', body: { name }, as: EDITOR })
      expect(status, JSON.stringify(body)).toBe(200)
    }
    const { url, sent, server } = await serve(newsroom())
    const browser = await launch()
    try {
      const page = await browser.newPage()
      await load(page, url)
      const names = () => page.locator('li').allTextContents().then(texts => texts.map(text => text.trim()))
      const statuses = () => sent.filter(({ path }) => path.startsWith('/api/tags')).map(({ status }) => status)
      await expect.poll(() => page.getByRole('status').textContent()).toMatch(/^\s*polling\s*$/)
      await expect.poll(() => statuses().slice(-3), { timeout: 15_000 }).toEqual([304, 304, 304])
      const before = statuses().length
      await rename('Renamed at the edge')
      const began = performance.now()
      await expect.poll(names, { timeout: 15_000 }).toContain('Renamed at the edge')
      console.log(`a page that asks every second shows a change after ${Math.round(performance.now() - began)} ms`)
      await expect.poll(() => statuses().slice(-2), { timeout: 15_000 }).toEqual([304, 304])
      expect(statuses().slice(before).filter(status => status !== 304)).toEqual([200])
      expect(sent.filter(({ path }) => path.startsWith('/api/_live'))).toEqual([{ path: '/api/_live?resources=tags', status: 200 }])
    }
    finally {
      await browser.close()
      server.close()
    }
  })
}

interface Sent {
  readonly path: string
  readonly status: number
}

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css', json: 'application/json' }

/** Serves the files of the app, and passes every other request to the worker. @returns with the responses of the worker */
async function serve({ url, assets }: Edge): Promise<{ readonly url: string, readonly sent: readonly Sent[], readonly server: Server }> {
  const sent: Sent[] = []
  const server = createServer((request, response) => {
    const { url: path = '/', method, headers } = request
    if (path.startsWith('/_nuxt/')) {
      const name = new URL(path, url).pathname
      response.setHeader('content-type', TYPES[name.split('.').at(-1)!] ?? 'application/octet-stream')
      return void createReadStream(join(assets, name)).on('error', () => response.writeHead(404).end()).pipe(response)
    }
    request.pipe(send(new URL(path, url), { method, headers }, (answer) => {
      sent.push({ path, status: answer.statusCode! })
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent, server }
}
