/** `nuxt-auto-api explain`: asks a development server of the app why a request is answered as it is. Writes are dry runs. */
import { spawn, type ChildProcess } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'pathe'
import type { Explanation } from '../runtime/shared/explanation'
import { CommandError, readPackages } from './app'

export interface ExplainOptions {
  readonly cwd: string
  readonly method: string
  /** The path with the prefix of the API and the query string. */
  readonly path: string
  /** The caller: `anonymous`, or parts such as `role:editor`. @default an anonymous caller */
  readonly as?: string
  /** The body as JSON. */
  readonly body?: string
  /** The address of a development server that runs. @default one of this app is found, or started */
  readonly url?: string
}

/** Between two questions whether the server has started, in milliseconds. */
const INTERVAL = 250
const TIME_LIMIT = 180_000

/** @throws CommandError if the app has no explanations, or its server does not start */
export async function explainRequest({ cwd, method, path, as = 'anonymous', body, url }: ExplainOptions): Promise<Explanation> {
  if (url !== undefined) return await ask(url, { method, path, as, body })
  readPackages(cwd)
  const running = await findRunning(cwd)
  if (running !== undefined) return await ask(running, { method, path, as, body })
  const server = await startServer(cwd)
  try {
    return await ask(server.url, { method, path, as, body })
  }
  finally {
    server.stop()
  }
}

type Question = Pick<ExplainOptions, 'method' | 'path' | 'as' | 'body'>

async function ask(url: string, { body, ...question }: Question): Promise<Explanation> {
  const sent = { ...question, ...body !== undefined && { body: parse(body) } }
  const response = await fetch(new URL('/_auto-api/explain', url), {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent),
  }).catch((error: unknown) => {
    throw new CommandError(`${url} does not answer: ${(error as Error).message}`)
  })
  const answer = await response.json().catch(() => ({})) as Explanation & { readonly message?: string }
  if (response.ok) return answer
  throw new CommandError(response.status === 404 ? NO_ROUTE : answer.message ?? `${url} answers with ${response.status}.`)
}

const NO_ROUTE = 'The server has no explanations. It has to run in development, with the module, and without `autoApi.explain: false`.'

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  }
  catch {
    throw new CommandError('`--body` is not valid JSON.')
  }
}

/** Returns the address of a development server of this app on Nuxt's port. */
async function findRunning(cwd: string): Promise<string | undefined> {
  const url = `http://localhost:${process.env.NUXT_PORT ?? process.env.PORT ?? 3000}`
  const found = await appAt(url)
  return found !== undefined && found === realpathSync(cwd) ? url : undefined
}

/** Returns the folder of the app that a server serves. `undefined` without an answer. @throws CommandError if it has no such route */
async function appAt(url: string, isOwn = false): Promise<string | undefined> {
  const response = await fetch(new URL('/_auto-api/app', url), { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  if (response?.status === 404 && isOwn) throw new CommandError(NO_ROUTE)
  if (!response?.ok || !/\bjson\b/.test(response.headers.get('content-type') ?? '')) return undefined
  return (await response.json() as { readonly rootDir?: string }).rootDir
}

interface Started {
  readonly url: string
  readonly stop: () => void
}

async function startServer(cwd: string): Promise<Started> {
  const port = await findPort()
  const url = `http://localhost:${port}`
  const require = createRequire(join(cwd, 'package.json'))
  const nuxt = join(require.resolve('nuxt/package.json'), '../bin/nuxt.mjs')
  const env = { ...process.env, NUXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'development' }
  const child = spawn(process.execPath, [nuxt, 'dev', '--port', String(port), '--host', 'localhost', '--no-clear'], {
    cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: process.platform !== 'win32',
  })
  const printed = collect(child)
  const stop = () => end(child)
  process.once('exit', stop)
  try {
    for (const began = Date.now(); await appAt(url, true) === undefined;) {
      if (child.exitCode !== null) throw new CommandError(`The development server has ended:\n${printed()}`)
      if (Date.now() - began > TIME_LIMIT)
        throw new CommandError(`The development server did not start in ${TIME_LIMIT / 1000} s:\n${printed()}`)
      await new Promise(resolve => setTimeout(resolve, INTERVAL))
    }
  }
  catch (error) {
    stop()
    throw error
  }
  return { url, stop }
}

const MAX_PRINTED = 4000

function collect({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk: Uint8Array) => void (text = (text + String(chunk)).slice(-MAX_PRINTED)))
  return () => text.trim()
}

/** Nuxt starts processes of its own. */
function end({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGTERM')
  }
  catch { /* It has just ended. */ }
}

async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
