/** Builds the newsroom and runs it on a database of its own, for tests that speak HTTP to it and look into its tables. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** What vitest and npm say to this process is not for the app. */
export const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_ENV$|TEST$|TALLY_|NUXT_|NITRO_|DATABASE_)/.test(name))),
  NUXT_TELEMETRY_DISABLED: '1',
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever an answer holds
  readonly body: any
}

export interface Ask {
  readonly method?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Id of the demo user. */
  readonly as?: number
  readonly headers?: Record<string, string>
  /** How long the rest of the body is on its way after its first byte. */
  readonly milliseconds?: number
}

export interface Newsroom {
  readonly url: string
  readonly ask: (path: string, options?: Ask) => Promise<Answer>
  /** Rows of its database, read past the API. */
  readonly rows: <T = Record<string, unknown>>(sql: string, ...values: unknown[]) => T[]
  readonly stop: () => Promise<void>
}

/** Once for all files of a test run, whose process every worker comes from. */
export function buildNewsroom(): void {
  const stamp = join(root, 'playground/.output/built-for')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === String(process.ppid)) return
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/nuxi'), ['build', 'playground'], { cwd: root, env: environment, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build failed\n${stdout}\n${stderr}`)
  writeFileSync(stamp, String(process.ppid))
}

export async function startNewsroom(file: string): Promise<Newsroom> {
  const env = { ...environment, DATABASE_FILE: file, HOST: '127.0.0.1', PORT: '0' }
  const server = spawn(process.execPath, [join(root, 'playground/.output/server/index.mjs')], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const url = await listening(server).catch((error) => {
    server.kill('SIGKILL')
    throw error
  })
  const database = new Database(file, { readonly: true })
  return {
    url,
    ask: (path, options) => ask(url + path, options),
    rows: (sql, ...values) => database.prepare(sql).all(...values) as never,
    async stop() {
      database.close()
      if (server.exitCode !== null) return
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      const impatience = globalThis.setTimeout(() => server.kill('SIGKILL'), 5000)
      await ended
      clearTimeout(impatience)
    },
  }
}

/** The address the server says it listens on: the system chose a free port. */
function listening(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const impatience = globalThis.setTimeout(() => reject(new Error(`the server did not listen within 30 seconds\n${printed}`)), 30_000)
    for (const stream of [server.stdout!, server.stderr!]) {
      stream.on('data', (chunk) => {
        printed += chunk
        const [url] = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(printed) ?? []
        if (!url) return
        clearTimeout(impatience)
        resolve(url)
      })
    }
    server.once('exit', code => reject(new Error(`the server ended with ${code}\n${printed}`)))
  })
}

export async function ask(url: string, { method = 'GET', body, as, headers, milliseconds }: Ask = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...body !== undefined && { 'content-type': 'application/json' }, ...as !== undefined && { 'x-demo-user': String(as) }, ...headers },
    ...body !== undefined && { body: milliseconds === undefined ? JSON.stringify(body) : late(JSON.stringify(body), milliseconds), duplex: 'half' },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

function late(text: string, milliseconds: number): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      // Headers are sent with the first bytes.
      controller.enqueue(new TextEncoder().encode(text.slice(0, 1)))
      await setTimeout(milliseconds)
      controller.enqueue(new TextEncoder().encode(text.slice(1)))
      controller.close()
    },
  })
}
