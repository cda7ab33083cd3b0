/** Follows a page of the documentation in an app: writes its files, runs its commands and sends its requests, in the order of the page. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage, type RequestOptions } from 'node:http'
import { dirname, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect } from 'vitest'
import { findSnippets } from '../../src/cli/snippets'
import { root } from '../support/once'
import { installPackages, runWith, startServer, type RunningServer, type Surroundings } from './tarball'

export interface Step {
  readonly title: string
  readonly run: (app: FollowedApp) => Promise<void> | void
}

export interface FollowedApp extends Surroundings {
  server?: RunningServer
  /** The cookies that `curl -c` has stored, as a header. */
  cookies?: string
}

/** The files of an app that `npm create nuxt` creates, besides `package.json`. */
const EMPTY_APP = {
  'nuxt.config.ts': 'export default defineNuxtConfig({})\n',
  'app/app.vue': '<template>\n  <NuxtWelcome />\n</template>\n',
  'tsconfig.json': JSON.stringify({
    files: [],
    references: ['app', 'server', 'shared', 'node'].map(name => ({ path: `./.nuxt/tsconfig.${name}.json` })),
  }),
}

/** Packages of the shared installation that no page installs. */
export const NOT_INSTALLED = ['better-sqlite3', '@types/better-sqlite3']

export async function createEmptyApp(folder: string, versions?: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(EMPTY_APP)) write(join(folder, path), text)
  await installPackages(folder, versions)
  for (const name of NOT_INSTALLED) rmSync(join(folder, 'node_modules', name), { recursive: true })
}

export const readPage = (page: string) => readFileSync(join(root, page), 'utf8')

/** Returns the steps of a page. The JSON after a request is its response; times can differ. */
export function stepsOf(page: string): Step[] {
  const snippets = findSnippets(readPage(page))
  return snippets.flatMap(({ language, source, code }, index): Step[] => {
    if (source !== undefined) return [{ title: `writes ${source}`, run: ({ cwd }) => write(join(cwd, source), code) }]
    if (language !== 'sh') return []
    const expected = snippets[index + 1]?.language === 'json' ? JSON.parse(snippets[index + 1]!.code) as unknown : undefined
    return code.trim().split('\n').map(line => ({ title: `runs ${line}`, run: app => runCommand(toWords(line), app, expected) }))
  })
}

function write(path: string, code: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, code)
}

const toWords = (line: string) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!)

async function runCommand([command, ...args]: string[], app: FollowedApp, expected: unknown): Promise<void> {
  if (command === 'npm' && args[0] === 'install') return assertInstalled(app, args.slice(1))
  if (command === 'curl') return await sendRequest(args, app, expected)
  if (command === 'rm') return rmSync(join(app.cwd, args[0]!))
  if (command === 'npx') return void runWith(app, args[0]!, ...args.slice(1))
  await app.server?.stop()
  if (command === 'npm' && args[1] === 'build') return void runWith(app, 'npm', ...args)
  app.server = await startServer(app, command!, ...args)
}

/** All apps share one installation, so that the packages are installed before the test. */
function assertInstalled({ cwd }: FollowedApp, args: readonly string[]): void {
  for (const name of args.filter(arg => !arg.startsWith('-')).map(spec => spec.replace(/(?<=.)@.*$/, '')))
    expect(readFileSync(join(cwd, 'node_modules', name, 'package.json'), 'utf8')).toContain(`"${name}"`)
}

async function sendRequest(args: readonly string[], app: FollowedApp, expected: unknown): Promise<void> {
  const valuesOf = (option: string) => args.filter((_, index) => args[index - 1] === option)
  const url = args.find(arg => arg.startsWith('http://'))!
  const [body] = valuesOf('-d')
  const [method = body === undefined ? 'GET' : 'POST'] = valuesOf('-X')
  const headers = Object.fromEntries(valuesOf('-H').map(line => line.split(/:\s*/, 2) as [string, string]))
  if (args.includes('-b')) headers.cookie = app.cookies!
  const response = await send(url.replace('http://localhost:3000', app.server!.url), { method, headers }, body)
  if (args.includes('-c')) app.cookies = response.headers['set-cookie']?.map(cookie => cookie.split(';', 1)[0]).join('; ')
  expect(withoutTimes(await json(response))).toMatchObject(withoutTimes(expected) as object)
}

/** Sends the same headers as curl. `fetch` would add headers of browsers, which libraries for sessions check. */
export function send(url: string, options: RequestOptions, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => request(url, options, resolve).once('error', reject).end(body))
}

function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"'))
}
