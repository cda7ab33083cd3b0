/** Streams of a running server: a client that stalls, leaves or sends, and what it costs the server. */
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { isRelease } from './tiers'

interface Run {
  readonly done: number
  readonly ended: boolean
  readonly error?: string
  readonly rss?: number
}

export interface StreamsOptions {
  /** The server's address. */
  readonly url: () => string
  /** The resource to scan. */
  readonly resource: string
  /** The SQL that adds rows to its table. */
  readonly fill: (rows: number) => string
  /** The resident memory of the server in bytes. Without it, the server reports its own. */
  readonly rss?: () => number
  /**
   * Leaves out what workerd and Nitro 2 cannot do: workerd notices that a client has left when it sends the next chunk, and ends a failed
   * response like a complete one. Nitro 2 reads the whole body of a request before it creates the event.
   */
  readonly isWorker?: true
}

/** At 300 bytes each, they are more than the buffers between server and client hold. */
const ROWS = isRelease ? 1_000_000 : 100_000
const MB = 1024 * 1024

export function describeStreams({ url, resource, fill, rss, isWorker }: StreamsOptions): void {
  let runs = 0
  const newRun = () => `run${++runs}`
  const stateOf = async (run: string) => (await fetch(`${url()}/api/streams/runs/${run}`)).json() as Promise<Run>
  const memory = async () => rss?.() ?? (await stateOf('none')).rss!

  async function until(run: string, holds: (state: Run) => boolean, limit: number): Promise<number> {
    const start = performance.now()
    for (;;) {
      const state = await stateOf(run)
      if (holds(state)) return performance.now() - start
      if (performance.now() - start > limit) throw new Error(`not within ${limit} ms: ${JSON.stringify(state)}`)
      await wait(20)
    }
  }

  function open(method: string, path: string, headers = ''): Socket {
    const { hostname, port } = new URL(url())
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.pause()
    socket.write(`${method} /api/streams/${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${headers}\r\n`)
    return socket
  }

  describe('a stream', () => {
    it(`stops with a client that reads nothing, in ${ROWS.toLocaleString('en')} rows, and ends when the client leaves`, async () => {
      const filled = await fetch(`${url()}/api/streams/sql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sql: fill(ROWS) }),
      })
      expect([filled.status, await filled.text()]).toEqual([204, ''])
      // The first stream loads code and fills caches.
      const warm = newRun()
      const first = open('GET', `lines/${resource}/${warm}`)
      await until(warm, ({ done }) => done > 5000, 10_000)
      await wait(500)
      first.destroy()
      await wait(1000)
      const before = await memory()
      const run = newRun()
      const socket = open('GET', `lines/${resource}/${run}`)
      await until(run, ({ done }) => done > 0, 10_000)
      // The buffers between the server and the client take a while to fill.
      let done = 0
      for (let state = await stateOf(run); state.done !== done && !state.ended; state = await stateOf(run)) {
        done = state.done
        await wait(1000)
      }
      await wait(1000)
      const later = await stateOf(run)
      const growth = await memory() - before
      socket.destroy()
      const ended = await until(run, ({ ended }) => ended, 1000)
      console.log(
        `stalled client: ${done} of ${ROWS} rows read, memory ${(growth / MB).toFixed(1)} MB, ended ${Math.round(ended)} ms after the client left`,
      )
      expect([later.done, later.ended]).toEqual([done, false])
      expect(done).toBeLessThan(ROWS / 2)
      expect(growth).toBeLessThan(30 * MB)
    }, 300_000)

    it('is complete for a client that reads, with flat memory', async () => {
      const run = newRun()
      const before = await memory()
      const response = await fetch(`${url()}/api/streams/lines/${resource}/${run}`)
      expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
        200,
        'application/x-ndjson',
        'private, no-cache',
      ])
      const growths: number[] = []
      let [lines, next] = [0, 0]
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        for (const byte of chunk) if (byte === 10) lines++
        if (lines < next) continue
        next += ROWS / 20
        growths.push((await memory() - before) / MB)
      }
      const state = await stateOf(run)
      console.log(`whole stream: ${lines} rows, memory ${growths.map(growth => growth.toFixed(0)).join(' ')} MB`)
      // workerd collects garbage late: an isolate can use 128 MB.
      expect(Math.max(...growths)).toBeLessThan(isWorker && isRelease ? 128 : 30)
      expect([lines, state.ended]).toEqual([state.done, true])
      expect(lines).toBeGreaterThanOrEqual(ROWS)
    }, 900_000)

    it('ends within a second when the client leaves, between two slow chunks', async () => {
      const run = newRun()
      const socket = open('GET', `ticks/${run}`)
      socket.resume()
      await until(run, ({ done }) => done > 3, 10_000)
      socket.destroy()
      console.log(`slow producer: ended ${Math.round(await until(run, ({ ended }) => ended, 1000))} ms after the client left`)
    })

    if (!isWorker) {
      it('ends within a second when the client leaves, while it waits for its next chunk', async () => {
        const run = newRun()
        const socket = open('GET', `slow/${run}`)
        await until(run, ({ done }) => done === 2, 10_000)
        socket.destroy()
        console.log(`waiting producer: ended ${Math.round(await until(run, ({ ended }) => ended, 1000))} ms after the client left`)
      })

      it('fails in the client if its producer throws after the first byte', async () => {
        await expect(fetch(`${url()}/api/streams/broken/${newRun()}`).then(response => response.text())).rejects.toThrow()
      })
    }

    it('has only headers for HEAD', async () => {
      const run = newRun()
      const response = await fetch(`${url()}/api/streams/lines/${resource}/${run}`, { method: 'HEAD' })
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'application/x-ndjson', ''])
      await wait(100)
      expect((await stateOf(run)).done).toBe(0)
    })
  })

  describe('an upload', () => {
    const send = (method: string, body: BodyInit, type = 'application/octet-stream') =>
      fetch(`${url()}/api/streams/upload/${newRun()}`, { method, headers: { 'content-type': type }, body, duplex: 'half' } as RequestInit)

    it.each(['POST', 'DELETE'])('is read as bytes: %s', async (method) => {
      const response = await send(method, new Uint8Array(3_000_000))
      expect([response.status, await response.json()]).toEqual([200, { length: 3_000_000 }])
    })

    it('of another media type is a 415', async () => {
      const response = await send('POST', '{}', 'application/json')
      expect([response.status, (await response.json()).data]).toEqual([
        415,
        { code: 'UNSUPPORTED_MEDIA_TYPE', accepted: ['application/octet-stream'] },
      ])
    })

    if (!isWorker) {
      it('needs no memory', async () => {
        const before = await memory()
        let left = 200
        const response = await send(
          'POST',
          new ReadableStream({ pull: controller => (left-- > 0 ? controller.enqueue(new Uint8Array(1_000_000)) : controller.close()) }),
        )
        expect(await response.json()).toEqual({ length: 200_000_000 })
        const growth = await memory() - before
        console.log(`upload of 200 MB: memory ${(growth / MB).toFixed(1)} MB`)
        expect(growth).toBeLessThan(60 * MB)
      })

      it('fails with INVALID_BODY if the client disconnects', async () => {
        const run = newRun()
        const socket = open('POST', `upload/${run}`, 'Content-Type: application/octet-stream\r\nContent-Length: 1000\r\n')
        socket.write('half')
        await until(run, ({ done }) => done === 4, 10_000)
        socket.destroy()
        await until(run, ({ error }) => error === 'INVALID_BODY', 1000)
      })
    }
  })
}

/** The resident memory of a child process of this one, such as the runtime of Workers. */
export function memoryOfChild(name: string): number {
  for (const pid of readdirSync('/proc').filter(entry => /^\d+$/.test(entry))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      if (new RegExp(`^Name:\\s${name}$`, 'm').test(status) && new RegExp(`^PPid:\\s${process.pid}$`, 'm').test(status))
        return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024
    }
    catch {
      // The process has ended.
    }
  }
  throw new Error(`no child process ${name}`)
}
