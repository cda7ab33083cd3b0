/** Builds the archive app and runs it, for tests that speak HTTP to a built Nuxt server. */
import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'test/fixtures/app')

/** What vitest and npm say to this process is not for the app. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_ENV$|TEST$|TALLY_|NUXT_|NITRO_|ARCHIVE_)/.test(name))),
  NUXT_TELEMETRY_DISABLED: '1',
}

export type Rows = Record<string, Record<string, Record<string, unknown>>>

export interface Ask {
  method?: string
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  /** What the app's authentication finds out about the caller. */
  caller?: object
}

export interface Answered {
  status: number
  headers: Headers
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever an answer holds
  body: any
}

export interface App {
  readonly url: string
  readonly pid: number
  /** What the server has written to its log so far. */
  readonly printed: () => string
  readonly ask: (path: string, options?: Ask) => Promise<Answered>
  /** Every row of every table. */
  readonly rows: () => Promise<Rows>
  /** The rows as they were at first, and these. */
  readonly putRows: (rows?: Record<string, object[]>) => Promise<Rows>
  readonly stop: () => Promise<void>
}

export interface ArchiveOptions {
  prefix?: string
  base?: string
  /** A folder of `also` in the archive: server files that only this build has. */
  also?: string
}

/** @throws When it cannot be built, or the server ends instead of answering; with what was printed. */
export async function startArchive(options: ArchiveOptions = {}): Promise<App> {
  return startApp(buildArchive(options), { base: options.base })
}

/** @returns the folder of the built server. @throws With what was printed. */
export function buildArchive({ prefix, also }: ArchiveOptions = {}): string {
  const variant = { ...prefix && { ARCHIVE_PREFIX: prefix }, ...also && { ARCHIVE_ALSO: also } }
  buildApp(folder, variant)
  return join(folder, '.output', also ?? (prefix ? 'prefixed' : 'plain'))
}

/** @throws With what was printed. */
export function buildApp(folder: string, variant: Record<string, string> = {}): void {
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/nuxi'), ['build', folder], { cwd: root, env: { ...environment, ...variant }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build failed\n${stdout}\n${stderr}`)
}

/** @param output the folder of a built server. */
export async function startApp(output: string, { base = '/', env = {} }: { base?: string, env?: Record<string, string> } = {}): Promise<App> {
  const port = await freePort()
  const server = spawn(process.execPath, [join(output, 'server/index.mjs')], { env: { ...environment, ...env, NUXT_APP_BASE_URL: base, HOST: '127.0.0.1', PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', chunk => printed += chunk)
  const url = `http://127.0.0.1:${port}`
  const app = createApp(url, base, { pid: server.pid!, printed: () => printed }, async () => {
    if (server.exitCode === null) await new Promise(resolve => server.once('exit', resolve).kill('SIGKILL'))
  })
  for (const until = Date.now() + 30_000; Date.now() < until; await new Promise(resolve => setTimeout(resolve, 50))) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}\n${printed}`)
    if (await fetch(url).then(() => true, () => false)) return app
  }
  await app.stop()
  throw new Error(`the server did not answer within 30 seconds\n${printed}`)
}

function createApp(url: string, base: string, process: Pick<App, 'pid' | 'printed'>, stop: () => Promise<void>): App {
  const ask = async (path: string, { method = 'GET', body, headers, caller }: Ask = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...body !== undefined && { 'content-type': 'application/json' }, ...caller && { 'x-caller': JSON.stringify(caller) }, ...headers },
      ...body !== undefined && { body: JSON.stringify(body) },
      redirect: 'manual',
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text }
  }
  const rowsOf = async (options?: Ask) => (await ask(`${base}_rows`, options)).body as Rows
  return { url, ...process, ask, stop, rows: () => rowsOf(), putRows: (rows = {}) => rowsOf({ method: 'PUT', body: rows }) }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject).listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no free port')))
    })
  })
}
