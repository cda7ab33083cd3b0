/** Builds a fixture app and runs what came of it, for tests that speak HTTP to a built Nuxt server as a browser does. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const fixtures = join(root, 'test/fixtures')

/** What vitest and npm say to this process is not for the app. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_ENV$|TEST$|TALLY_|NUXT_|NITRO_)/.test(name))),
  NUXT_TELEMETRY_DISABLED: '1',
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The cookies that the answer sets, to be sent along with the next request. */
  readonly cookies: readonly string[]
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever an answer holds
  readonly body: any
}

export interface Ask {
  readonly method?: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly cookie?: string
  readonly headers?: Record<string, string>
}

export interface Server {
  readonly url: string
  readonly ask: (path: string, options?: Ask) => Promise<Answer>
  readonly stop: () => Promise<void>
}

/** @throws When it cannot be built, with what was printed. */
export function buildFixture(name: string, env: Record<string, string> = {}): void {
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/nuxi'), ['build', join(fixtures, name)], { cwd: root, env: { ...environment, ...env }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build failed\n${stdout}\n${stderr}`)
}

/**
 * @param output the build's folder in the fixture
 * @param node the Node that runs it
 * @throws When it ends instead of listening, with what was printed.
 */
export async function startFixture(name: string, output = '.output', env: Record<string, string> = {}, node = process.execPath): Promise<Server> {
  return run(spawn(node, [join(fixtures, name, output, 'server/index.mjs')], { env: { ...environment, HOST: '127.0.0.1', PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** The fixture as `nuxi dev` serves it. */
export async function startDevelopment(name: string): Promise<Server> {
  // A group of its own: the command starts the process that serves.
  const server = await run(spawn(join(root, 'node_modules/.bin/nuxi'), ['dev', join(fixtures, name), '--host', '127.0.0.1', '--port', '0'], { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true }))
  // It listens before the app is built, and answers 503 until then.
  for (const until = Date.now() + 60_000; (await server.ask('/')).status === 503 && Date.now() < until;) await new Promise(resolve => setTimeout(resolve, 100))
  return server
}

async function run(server: ChildProcess): Promise<Server> {
  const kill = () => server.spawnargs.includes('dev') ? process.kill(-server.pid!, 'SIGKILL') : server.kill('SIGKILL')
  const url = await listening(server).catch((error) => {
    kill()
    throw error
  })
  return {
    url,
    ask: (path, options) => send(url + path, options),
    async stop() {
      if (server.exitCode !== null) return
      const ended = once(server, 'exit')
      kill()
      await ended
    },
  }
}

/** The address the server says it listens on: the system chose a free port. */
function listening(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const impatience = setTimeout(() => reject(new Error(`the server did not listen within 30 seconds\n${printed}`)), 30_000)
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

async function send(url: string, { method = 'GET', body, cookie, headers }: Ask = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...body !== undefined && { 'content-type': 'application/json' }, ...cookie !== undefined && { cookie }, ...headers },
    ...body !== undefined && { body: JSON.stringify(body) },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    cookies: response.headers.getSetCookie().map(cookie => cookie.split(';', 1)[0]!),
    body: isJson ? JSON.parse(text) : text,
  }
}
