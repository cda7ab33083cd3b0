/** Runs built fixture apps, for tests that send HTTP requests to a built Nuxt server. */
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../../support/once'
import { folderOf } from './build'
import { environment } from './environment'
import { assertNoSecrets } from '../../support/secrets'
import { createChecks } from './checked'
import { sendRequest, type RequestOptions, type ServerResponse } from './request'

export interface Server {
  readonly url: string
  readonly pid: number
  /** What the server has written to its log so far. */
  readonly printed: () => string
  readonly request: (path: string, options?: RequestOptions) => Promise<ServerResponse>
  /** Resolves when the process ends, with its exit code. It is `null` for a process that a signal has ended. */
  readonly ended: Promise<number | null>
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The Node that runs the server. @default the Node of the test */
  readonly node?: string
  /** The working directory of the server. @default that of the test */
  readonly cwd?: string
  /** Options of Node. */
  readonly flags?: readonly string[]
}

/** @param output the folder of a built server. @throws When the server ends instead of listening, with what was printed. */
export function startServer(output: string, { env, node = process.execPath, cwd, flags = [] }: StartOptions = {}): Promise<Server> {
  return run(spawn(node, [...flags, join(output, 'server/index.mjs')], {
    cwd, env: { ...environment, HOST: '127.0.0.1', PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  }))
}

/** A fixture as `nuxi dev` serves it. */
export async function startDevelopment(name: string, env: Readonly<Record<string, string>> = {}): Promise<Server> {
  // A process group: the command starts the process that serves.
  const server = await run(spawn(join(root, 'node_modules/.bin/nuxi'), ['dev', folderOf(name), '--host', '127.0.0.1', '--port', '0'], {
    cwd: root, env: { ...environment, FIXTURE_VARIANT: 'development', ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
  }), 'group')
  // The server listens before the app is built, and returns 503 until then.
  for (const until = Date.now() + 60_000; (await server.request('/')).status === 503 && Date.now() < until;) {
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  return server
}

const TIMEOUT = 30_000

async function run(server: ChildProcess, kind: 'single' | 'group' = 'single'): Promise<Server> {
  const kill = (signal: NodeJS.Signals) => kind === 'group' ? process.kill(-server.pid!, signal) : server.kill(signal)
  let printed = ''
  for (const stream of [server.stdout!, server.stderr!]) stream.on('data', chunk => printed += chunk)
  const url = await addressOf(server, () => printed).catch((error) => {
    if (server.exitCode === null) kill('SIGKILL')
    throw error
  })
  const checks = createChecks(url)
  const ended = new Promise<number | null>(resolve => server.once('exit', resolve))
  return {
    url,
    pid: server.pid!,
    ended,
    printed: () => printed,
    async request(path, options) {
      const response = await sendRequest(url + path, options)
      checks.add(path, options, response)
      return response
    },
    async stop(signal = 'SIGKILL') {
      const runs = server.exitCode === null && server.signalCode === null
      const problems = runs ? await checks.findProblems() : []
      if (runs) {
        kill(signal)
        const timer = setTimeout(() => kill('SIGKILL'), 5_000)
        await ended
        clearTimeout(timer)
      }
      assertNoSecrets(printed, 'The log of the server')
      if (problems.length > 0) throw new Error(`The answers differ from the OpenAPI document:\n${problems.slice(0, 40).join('\n')}`)
    },
  }
}

/** The address that the server prints: the system chooses a free port. */
function addressOf(server: ChildProcess, printed: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server did not listen within ${TIMEOUT / 1000} seconds\n${printed()}`)), TIMEOUT)
    const find = () => {
      const [url] = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(printed()) ?? []
      if (!url) return
      clearTimeout(timer)
      resolve(url)
    }
    for (const stream of [server.stdout!, server.stderr!]) stream.on('data', find)
    // `close`, not `exit`: everything has been printed then.
    server.once('close', (code) => {
      clearTimeout(timer)
      reject(new Error(`the server ended with ${code}\n${printed()}`))
    })
  })
}
