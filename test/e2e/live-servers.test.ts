/** Live streams of several processes on one Postgres: every commit arrives or the stream is reset, whatever happens to a process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Redis } from 'ioredis'
import pg from 'pg'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/once'
import { isReachable, REDIS, SERVICES } from '../support/services'
import { isFull } from '../support/tiers'

const URL = 'postgres://postgres@127.0.0.1:5432/test'
/** The same database through PgBouncer in transaction mode. */
const POOLED = 'postgres://postgres@127.0.0.1:6432/test'
const needed = ['redis', 'postgres', ...isFull ? ['pgbouncer'] : []].map(needed => SERVICES.find(({ name }) => name === needed)!)
const reachable = (await Promise.all(needed.map(isReachable))).every(Boolean)

/** The file of Nitro that stops a server of the preset `node-server`. Its package does not export it. */
const NITRO_STOP = pathToFileURL(join(root, 'node_modules/nitropack/dist/runtime/internal/lib/http-graceful-shutdown.mjs')).href

const DRIVERS = ['node-postgres', 'postgres-js'] as const
const CHANNELS = [['postgres', 'node-postgres'], ['postgres', 'postgres-js'], ['redis', 'node-postgres']] as const

describe.skipIf(!reachable)('live streams of several processes', () => {
  const database = new pg.Client(URL)
  const redis = new Redis(REDIS.port, REDIS.host, { lazyConnect: true })
  const table = `live_${crypto.randomUUID().slice(0, 8)}`
  const outDir = join(root, 'test/e2e/live/.output')
  const file = join(outDir, `server-${process.pid}.mjs`)
  const open: { readonly stop: () => unknown }[] = []

  beforeAll(async () => {
    await build({
      configFile: false,
      logLevel: 'silent',
      ssr: { noExternal: true, external: ['pg', 'postgres', 'ioredis', 'h3'] },
      build: {
        ssr: join(root, 'test/e2e/live/server.ts'), outDir, emptyOutDir: false,
        rollupOptions: { output: { entryFileNames: `server-${process.pid}.mjs`, codeSplitting: false } },
      },
    })
    await database.connect()
    await database.query(`create table ${table} (id serial primary key, text text not null, team integer not null default 1)`)
  })
  afterEach(async () => {
    for (const { stop } of open.splice(0)) await stop()
  })
  afterAll(async () => {
    await database.query(`drop table if exists ${table}`)
    await database.end()
    redis.disconnect()
    rmSync(file, { force: true })
  })

  async function start(channel: string, driver: string, more: Readonly<Record<string, string>> = {}, url = URL) {
    const name = `live-${crypto.randomUUID()}`
    const child = spawn(process.execPath, [file], {
      env: {
        ...process.env, LIVE_URL: `${url}?application_name=${name}`, LIVE_TABLE: table, LIVE_DRIVER: driver, LIVE_CHANNEL: channel,
        LIVE_REDIS: name, ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const printed: string[] = []
    for (const output of [child.stdout, child.stderr]) output.on('data', text => printed.push(String(text)))
    const ended = new Promise<string>(resolve => child.once('exit', (code, signal) => resolve(signal ?? String(code))))
    const server = { name, child, ended, printed: () => printed.join(''), url: await addressOf(child), stop: () => child.kill('SIGKILL') }
    open.push(server)
    return server
  }

  async function follow(url: string) {
    const leave = new AbortController()
    const response = await fetch(`${url}/api/_live?resources=notes`, { signal: leave.signal })
    const stream = { text: '', stop: () => leave.abort(), ended: false }
    const read = async () => {
      for await (const chunk of response.body! as unknown as AsyncIterable<Uint8Array>) stream.text += Buffer.from(chunk).toString()
      stream.ended = true
    }
    void read().catch(() => {})
    open.push(stream)
    await expect.poll(() => stream.text, { timeout: 20_000 }).toContain('event: open')
    return stream
  }

  /** A row whose report fits into no single notification. */
  const create = async (url: string) => {
    const response = await fetch(`${url}/api/notes`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ text: 'x'.repeat(12_000) }),
    })
    return response.status === 201 ? (await response.json() as { id: number }).id : undefined
  }
  const idsIn = ({ text }: { readonly text: string }) => new Set([...text.matchAll(/"id":"(\d+)"/g)].map(([, id]) => Number(id)))
  const wait = { timeout: 40_000, interval: 200 }

  it.each(CHANNELS)('report each commit of another process: %s, %s', async (channel, driver) => {
    const [writer, reader] = [await start(channel, driver), await start(channel, driver)]
    const stream = await follow(reader.url)
    const ids = await Promise.all(Array.from({ length: 50 }, () => create(writer.url)))
    await expect.poll(() => ids.filter(id => !idsIn(stream).has(id!)), wait).toEqual([])
    expect(stream.text).not.toContain('event: reset')
  }, 60_000)

  it.each(CHANNELS)('report each commit of a process with another secret, if both accept both: %s, %s', async (channel, driver) => {
    const [old, current] = ['the secret that the app has had', 'the secret that the app gets now']
    const servers = [
      await start(channel, driver, { LIVE_SECRET: old!, LIVE_PREVIOUS: current! }),
      await start(channel, driver, { LIVE_SECRET: current!, LIVE_PREVIOUS: old! }),
    ]
    const streams = [await follow(servers[0]!.url), await follow(servers[1]!.url)]
    const ids = await Promise.all(servers.flatMap(({ url }) => Array.from({ length: 10 }, () => create(url))))
    for (const stream of streams) await expect.poll(() => ids.filter(id => !idsIn(stream).has(id!)), wait).toEqual([])
  }, 60_000)

  // Each takes as long as a silent server counts as alive.
  it.each(isFull ? CHANNELS : CHANNELS.slice(0, 1))('are reset after a process was killed, or have had every commit: %s, %s', async (channel, driver) => {
    const [writer, reader] = [await start(channel, driver), await start(channel, driver)]
    const stream = await follow(reader.url)
    const first = await create(writer.url)
    await expect.poll(() => idsIn(stream).has(first!), wait).toBe(true)
    const writing = Array.from({ length: 8 }, async () => {
      for (;;) await create(writer.url)
    })
    setTimeout(() => writer.child.kill('SIGKILL'), 300)
    await Promise.allSettled(writing)
    await writer.ended
    const { rows } = await database.query<{ id: number }>(`select id from ${table} where id > $1`, [first])
    expect(rows.length).toBeGreaterThan(3)
    // A commit without a report is followed by a reset, which also comes if all were reported: nobody knows that.
    await expect.poll(() => stream.text, wait).toContain('event: reset')
  }, 90_000)

  it.each(CHANNELS)('are reset when the channel is back: %s, %s', async (channel, driver) => {
    const [writer, reader] = [await start(channel, driver), await start(channel, driver)]
    const stream = await follow(reader.url)
    if (channel === 'redis') {
      const clients = (await redis.client('LIST') as string).split('\n').filter(line => line.includes(`name=${reader.name}`) && !line.includes(' sub=0'))
      expect(clients).toHaveLength(1)
      await redis.client('KILL', 'ID', /id=(\d+)/.exec(clients[0]!)![1]!)
    }
    else {
      const { rowCount } = await database.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and query ~ \'^(listen|select pg_notify)\'',
        [reader.name],
      )
      expect(rowCount).toBeGreaterThan(0)
    }
    await expect.poll(() => stream.text, wait).toContain('event: reset')
    const id = await create(writer.url)
    await expect.poll(() => idsIn(stream).has(id!), wait).toBe(true)
  }, 90_000)

  // It takes six attempts until the server says so.
  it.each(isFull ? DRIVERS : [])('do not take a pooler for a channel, and go on with what their own server writes: %s', async (driver) => {
    const [writer, reader] = [await start('postgres', driver, {}, POOLED), await start('postgres', driver, {}, POOLED)]
    const stream = await follow(reader.url)
    const [other, own] = [await create(writer.url), await create(reader.url)]
    await expect.poll(() => idsIn(stream).has(own!), wait).toBe(true)
    for (const server of [writer, reader]) {
      await expect.poll(server.printed, { timeout: 60_000, interval: 200 }).toMatch(
        /`live\.channel`: this server is not connected to the others\. .*A message has not returned/,
      )
    }
    expect(idsIn(stream).has(other!)).toBe(false)
  }, 90_000)

  it.each([
    ['Nitro stops', NITRO_STOP, '0'],
    ['nobody else stops', '', 'SIGTERM'],
  ])('end at SIGTERM, in a process that %s', async (_, stop, outcome) => {
    const server = await start('postgres', 'node-postgres', { LIVE_STOP: stop })
    const other = await start('postgres', 'node-postgres')
    const [stream, left] = [await follow(server.url), await follow(other.url)]
    server.child.kill('SIGTERM')
    // With an open stream, Nitro would wait for five minutes.
    expect(await server.ended).toBe(outcome)
    await expect.poll(() => stream.ended, wait).toBe(true)
    expect(stream.text).toMatch(/retry: \d+\nevent: end\ndata: \{"reason":"closing"\}\n\n$/)
    expect(left.ended).toBe(false)
  }, 60_000)
})

function addressOf(child: ChildProcess): Promise<string> {
  let printed = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        const [, url] = /listens (\S+)/.exec(printed += String(chunk)) ?? []
        if (url) resolve(url)
      })
    }
    child.once('close', code => reject(new Error(`The server ended with ${code}.\n${printed}`)))
  })
}
