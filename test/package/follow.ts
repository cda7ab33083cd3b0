/** Follows a page of the documentation in an app: writes its files, runs its commands and sends its requests, in the order of the page. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { findSnippets } from '../../src/cli/snippets'
import { root } from '../support/once'
import { runWith, startServer, type RunningServer, type Surroundings } from './tarball'

export interface Step {
  readonly title: string
  readonly run: (app: FollowedApp) => Promise<void> | void
}

export interface FollowedApp extends Surroundings {
  server?: RunningServer
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
  if (command === 'npx') return void runWith(app, args[0]!, ...args.slice(1))
  await app.server?.stop()
  if (command === 'npm' && args[1] === 'build') return void runWith(app, 'npm', ...args)
  app.server = await startServer(app, command!, ...args)
}

/** All apps share one installation, so that the packages are installed before the test. */
function assertInstalled({ cwd }: FollowedApp, args: readonly string[]): void {
  for (const name of args.filter(arg => !arg.startsWith('-'))) expect(readFileSync(join(cwd, 'node_modules', name, 'package.json'), 'utf8')).toContain(`"${name}"`)
}

async function sendRequest(args: readonly string[], { server }: FollowedApp, expected: unknown): Promise<void> {
  const valuesOf = (option: string) => args.filter((_, index) => args[index - 1] === option)
  const url = args.find(arg => arg.startsWith('http://'))!
  const [body] = valuesOf('-d')
  const [method = body === undefined ? 'GET' : 'POST'] = valuesOf('-X')
  const headers = Object.fromEntries(valuesOf('-H').map(line => line.split(/:\s*/, 2) as [string, string]))
  const response = await fetch(url.replace('http://localhost:3000', server!.url), { method, headers, ...body !== undefined && { body } })
  expect(withoutTimes(await response.json())).toMatchObject(withoutTimes(expected) as object)
}

function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"'))
}
