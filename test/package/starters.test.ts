/** From an empty folder to an authorized list in the browser: each template of `init`, with the commands that it prints. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from '../e2e/newsroom/browser'
import { root } from '../support/once'
import { send } from './follow'
import { createFolder, packPackage, runWith, startServer, type RunningServer, type Surroundings } from './tarball'

interface Answer<T = Record<string, unknown>> {
  readonly status: number
  readonly body: T
  readonly cookie: string
}

async function request<T>(url: string, method: string, options: { cookie?: string, body?: object } = {}): Promise<Answer<T>> {
  const headers = { 'content-type': 'application/json', ...options.cookie && { cookie: options.cookie } }
  const response = await send(url, { method, headers }, options.body && JSON.stringify(options.body))
  const cookie = (response.headers['set-cookie'] ?? []).map(line => line.split(';', 1)[0]).join('; ')
  return { status: response.statusCode!, body: await json(response) as T, cookie }
}

const TEMPLATES = [
  { template: 'sqlite', own: {} },
] as const satisfies readonly { template: string, own: Readonly<Record<string, string>> }[]

describe.each(TEMPLATES)('the template $template', ({ template, own }) => {
  const folder = createFolder()
  const app: Surroundings = { cwd: join(folder, 'my-app'), node: process.execPath }
  let browser: Browser
  let server: RunningServer | undefined

  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const signUp = async (name: string) => {
    const body = { name, email: `${name.toLowerCase()}@example.com`, password: 'correct horse battery' }
    const answer = await request(`${server!.url}/api/auth/sign-up/email`, 'POST', { body })
    expect([answer.status, answer.body]).toMatchObject([200, { user: { name } }])
    return answer.cookie
  }
  const call = <T>(cookie: string | undefined, method: string, path: string, body?: object) =>
    request<T>(`${server!.url}/api/tasks${path}`, method, { ...cookie && { cookie }, ...body && { body } })

  let ada: string
  let id: number

  it('needs three commands to the first authorized list in the browser', async () => {
    const tarball = await packPackage()
    const began = Date.now()
    const seconds = () => Math.round((Date.now() - began) / 1000)
    const printed = runWith({ ...app, cwd: folder }, 'npx', '--yes', `--package=${tarball}`, 'nuxt-auto-api', 'init', '--template', template, 'my-app')
    const written = seconds()
    const next = [...printed.matchAll(/\bnpm (?:install|run \w+)/g)].map(([command]) => command.split(' '))
    const lines = configure(app.cwd, tarball, own)
    for (const [command, ...args] of next.slice(0, -1)) runWith(app, command!, ...args)
    const installed = seconds()
    const [command, ...args] = next.at(-1)!
    server = await startServer(app, command!, ...args)
    ada = await signUp('Ada')
    const { status, body } = await call<{ id: number }>(ada, 'POST', '', { title: 'Water the plants' })
    expect(status).toBe(201)
    id = body.id
    const page = await openAs(ada)
    await page.goto(server.url)
    expect(await page.getByText('Water the plants').textContent()).toBe('Water the plants')
    console.log(`${template}: ${1 + next.length} commands and ${lines} lines of one's own. ${seconds()} s: ${written} s until the files were written, ${installed} s until the packages were installed`)
    expect(1 + next.length).toBeLessThanOrEqual(3)
    expect(lines).toBeLessThanOrEqual(10)
  }, 600_000)

  async function openAs(cookie: string): Promise<Page> {
    const context = await browser.newContext()
    await context.addCookies(cookie.split('; ').map((pair) => {
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
      return { name, value, url: server!.url }
    }))
    return await context.newPage()
  }

  it('refuses anonymous callers, and hides the tasks of others', async () => {
    const ben = await signUp('Ben')
    expect((await call(undefined, 'GET', '')).status).toBe(401)
    expect((await call(undefined, 'POST', '', { title: 'Anonymous' })).status).toBe(401)
    expect((await call<{ data: unknown[] }>(ben, 'GET', '')).body.data).toEqual([])
    for (const [method, body] of [['GET'], ['PATCH', { title: 'Of Ben' }], ['DELETE']] as const)
      expect((await call(ben, method, `/${id}`, body)).status).toBe(404)
    expect((await call(ada, 'GET', `/${id}`)).body).toMatchObject({ title: 'Water the plants', status: 'todo' })
  })

  it('does not let users choose their role', async () => {
    const body = { name: 'Eve', email: 'eve@example.com', password: 'correct horse battery', role: 'admin' }
    const { cookie, status } = await request(`${server!.url}/api/auth/sign-up/email`, 'POST', { body })
    expect(status === 200 ? (await call<{ data: unknown[] }>(cookie, 'GET', '')).body.data : []).toEqual([])
  })

  it('passes its own test of the access matrix', () => {
    expect(stripVTControlCharacters(runWith(app, 'npm', 'test'))).toMatch(/Tests +2 passed/)
  })

  it('has no problem that the command finds', () => {
    runWith(app, 'npx', 'nuxt-auto-api', 'check')
  })

  it('type checks', () => {
    runWith(app, join(root, 'node_modules/.bin/vue-tsc'), '-b', '--noEmit')
  })
})

/**
 * Writes what the user writes: the values in `.env`. The package is not on the registry, so the app installs the tarball, with the versions
 * for which the registry of the tests has all packages.
 * @returns the number of lines that the user writes
 */
function configure(cwd: string, tarball: string, own: Readonly<Record<string, string>>): number {
  const env = join(cwd, '.env')
  const text = Object.entries(own).reduce((text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`), readFileSync(env, 'utf8'))
  writeFileSync(env, text)
  const { overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { overrides: Record<string, unknown> }
  const file = join(cwd, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> }
  const dependencies = { ...manifest.dependencies, 'nuxt-auto-api': `file:${tarball}`, 'tailwindcss': overrides.tailwindcss as string }
  writeFileSync(file, JSON.stringify({ ...manifest, dependencies, overrides }, null, 2))
  return Object.keys(own).length
}
