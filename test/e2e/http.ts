/** HTTP on a built server: HEAD and OPTIONS, caching headers, bodies over the limit, clients that disconnect. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { NUXT } from '../support/versions/nuxt'
import { CACHING, cachingOf } from './support/caching'
import type { VisibilityApp } from './support/visibility'

const member = { user: { id: 1, organizationId: 1 }, permissions: ['articles'] }

export function describeHttp(app: () => VisibilityApp, prefix: string): void {
  describe('on a built server', () => {
    it.each([
      ['', 200],
      ['/1', 200],
      ['/404', 404],
      ['?page=0', 400],
      ['/aggregate?groupBy=status', 200],
    ])('HEAD returns what GET returns, without the body: <prefix>/articles%s', async (path, status) => {
      const [get, head] = [
        await app().request(`${prefix}/articles${path}`, { caller: member }),
        await app().request(`${prefix}/articles${path}`, { method: 'HEAD', caller: member }),
      ]
      expect([get.status, head.status, head.body]).toEqual([status, status, ''])
      // Headers of the connection; Nitro also omits the length of an error.
      const others = ['date', 'connection', 'keep-alive', ...(status === 200 ? [] : ['content-length', 'transfer-encoding'])]
      const kept = ({ headers }: typeof get) => Object.fromEntries([...headers].filter(([name]) => !others.includes(name)))
      expect(kept(head)).toEqual(kept(get))
    })

    if (NUXT.sendsHeadToGet) it('HEAD reaches the app\'s route where GET does', async () => {
      const head = await app().request(`${prefix}/tags`, { method: 'HEAD' })
      expect([head.status, head.headers.get('ratelimit'), head.headers.get('cache-control')]).toEqual([200, null, null])
    })

    if (!NUXT.sendsHeadToGet) it('HEAD is refused where the app handles GET, because no file of the app receives HEAD', async () => {
      const head = await app().request(`${prefix}/tags`, { method: 'HEAD' })
      expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS'])
    })

    it('OPTIONS returns the methods of a path', async () => {
      const { status, headers, body } = await app().request(`${prefix}/articles/1`, { method: 'OPTIONS' })
      expect([status, headers.get('allow'), body]).toEqual([204, 'GET, HEAD, PATCH, DELETE, OPTIONS', ''])
    })

    it.each([
      ['GET', '/articles', 200],
      ['GET', '/articles/404', 404],
      ['GET', '/articles?page=0', 400],
      ['PUT', '/articles', 405],
      ['POST', '/articles', 415],
      ['OPTIONS', '/articles', 204],
      ['GET', '/_m2m/detect/nothing', 404],
    ])('every response forbids shared caches: %s <prefix>%s → %i', async (method, path, status) => {
      for (const accept of ['application/json', 'text/html']) {
        const answer = await app().request(prefix + path, { method, caller: member, headers: { accept } })
        expect([answer.status, cachingOf(answer.headers)]).toEqual([status, CACHING])
      }
    })

    it.each([
      ['GET', '/_m2m/debug-detection'],
      ['POST', '/admin/m2m/sync'],
    ])('a route of earlier versions belongs to the app: %s <prefix>%s', async (method, path) => {
      for (const caller of [undefined, member, { ...member, permissions: ['*'] }]) {
        // Paths without a route of the API reach the app's catch-all route.
        expect(await app().request(prefix + path, { method, caller })).toMatchObject({ status: 418, body: { from: 'the app', method } })
      }
    })

    it.each([
      ['declared', false],
      ['not declared', true],
    ])(
      'refuses a body of 400 MB at once, without holding it in memory, and closes the connection, when its length is %s',
      async (_, isChunked) => {
        const before = peakOf(app().pid)
        const { received, respondedAfter, sent } = await send(app().url, `${prefix}/articles`, isChunked, 400)
        expect(received.match(/HTTP\/1\.1 \d+|^connection: .*/gim)).toEqual(['HTTP/1.1 413', 'connection: close'])
        // What the sockets hold, and what is read after the refusal.
        expect(sent).toBeLessThan(30 * MB)
        expect(received).toContain('"code": "PAYLOAD_TOO_LARGE"')
        expect(respondedAfter).toBeLessThan(2000)
        expect(peakOf(app().pid) - before).toBeLessThan(100)
        expect((await app().request(`${prefix}/articles`, { method: 'POST', caller: member, body: { title: 'after it' } })).status).toBe(
          201,
        )
      },
    )

    it('logs nothing and changes nothing when a client disconnects during its body', async () => {
      const [rows, logged] = [await app().rows(), app().printed()]
      for (const sent of ['', '{"title":', `{"title":"${'x'.repeat(100_000)}`]) {
        const socket = connect(Number(new URL(app().url).port), '127.0.0.1')
        socket.write(head(`${prefix}/articles`, 'Content-Length: 500000') + sent)
        await setTimeout(100)
        socket.destroy()
      }
      await setTimeout(300)
      expect(await app().rows()).toEqual(rows)
      expect(app().printed().slice(logged.length)).toBe('')
    })
  })
}

const MB = 1024 * 1024

/** The peak memory of the process so far, in MB. */
function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

interface Sent {
  readonly received: string
  /** Milliseconds until the response began. */
  readonly respondedAfter: number
  /** The bytes that the client could send until the connection was closed. */
  readonly sent: number
}

/** Sends a body until the connection is closed, also after the response began. Node's client stops sending then. */
async function send(url: string, path: string, isChunked: boolean, megabytes: number): Promise<Sent> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const began = Date.now()
  let respondedAfter = Infinity
  let received = ''
  socket.on('data', (data) => {
    respondedAfter = Math.min(respondedAfter, Date.now() - began)
    received += data
  })
  socket.write(head(path, isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${megabytes * MB}`))
  const chunk = Buffer.alloc(MB, 'x')
  const frame = isChunked ? Buffer.concat([Buffer.from(`${MB.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]) : chunk
  const closed = once(socket, 'close').catch(() => {})
  socket.on('error', () => {})
  for (let sent = 0; sent < megabytes && !socket.destroyed; sent++) {
    if (!socket.write(frame)) await Promise.race([once(socket, 'drain').catch(() => {}), closed])
  }
  await closed
  return { received, respondedAfter, sent: socket.bytesWritten - socket.writableLength }
}

const head = (path: string, length: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: application/json\r\nX-Caller: ${JSON.stringify(member)}\r\n${length}\r\n\r\n`
