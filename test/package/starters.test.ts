/** From an empty folder to an authorized list and the admin in the browser: each template of `init`, with the commands that it prints. */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { createClient } from '@libsql/client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from '../e2e/newsroom/browser'
import { root } from '../support/once'
import { send } from './follow'
import { runOnPostgres } from './postgres'
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

const database = `starters_${randomUUID().replaceAll('-', '')}`

interface Template {
  readonly template: string
  /** What the user writes into `.env`. */
  readonly own: Readonly<Record<string, string>>
  /** Runs SQL in the database of the app. */
  readonly execute: (cwd: string, sql: string) => unknown
  /** The command that serves the built app, with the database of the development server. @default `npm start` */
  readonly start?: string
}

const TEMPLATES: readonly Template[] = [
  { template: 'sqlite', own: {}, execute: (cwd, sql) => createClient({ url: `file:${cwd}/local.db` }).execute(sql) },
  { template: 'postgres', own: { DATABASE_URL: `postgres://postgres@127.0.0.1:5432/${database}` }, execute: (_, sql) => runOnPostgres(sql, database) },
  {
    template: 'cloudflare',
    own: {},
    execute: (cwd, sql) => runWith({ cwd, node: process.execPath }, 'npx', 'wrangler', 'd1', 'execute', 'DB', '--local', '--command', sql),
    start: 'npm run preview -- --port $PORT',
  },
]

beforeAll(() => runOnPostgres(`create database ${database}`))
afterAll(() => runOnPostgres(`drop database ${database} with (force)`))

const isHydrated = () => (window as unknown as { useNuxtApp?: () => { isHydrating: boolean } }).useNuxtApp?.().isHydrating === false

describe.each(TEMPLATES)('the template $template', ({ template, own, execute, start = 'npm start' }) => {
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

  const enter = async (kind: 'sign-up' | 'sign-in', name: string) => {
    const body = { name, email: `${name.toLowerCase()}@example.com`, password: 'correct horse battery' }
    const answer = await request(`${server!.url}/api/auth/${kind}/email`, 'POST', { body })
    expect([answer.status, answer.body]).toMatchObject([200, { user: { name } }])
    return answer.cookie
  }
  const call = <T>(cookie: string | undefined, method: string, path: string, body?: object) =>
    request<T>(`${server!.url}/api/tasks${path}`, method, { ...cookie && { cookie }, ...body && { body } })

  let ada: string
  let id: number

  it('needs three commands to the first authorized list and the admin in the browser', async () => {
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
    ada = await enter('sign-up', 'Ada')
    const { status, body } = await call<{ id: number }>(ada, 'POST', '', { title: 'Water the plants' })
    expect(status).toBe(201)
    id = body.id
    const page = await openAs(ada)
    await page.goto(server.url)
    expect(await page.getByText('Water the plants').textContent()).toBe('Water the plants')
    const listed = seconds()
    await page.goto(`${server.url}/admin/tasks`)
    await page.getByText('Water the plants').first().waitFor()
    const times = `${written} s until the files were written, ${installed} s until the packages were installed, ${listed} s until the list`
    console.log(`${template}: ${1 + next.length} commands and ${lines} lines of one's own. ${seconds()} s until the admin: ${times}`)
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
    const ben = await enter('sign-up', 'Ben')
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

  describe('built', () => {
    beforeAll(async () => {
      await server?.stop()
      runWith(app, 'npm', 'run', 'build')
      server = await startServer(app, 'sh', '-c', start)
    }, 600_000)

    it('contains none of the secrets of `.env`', () => {
      const output = join(app.cwd, '.output')
      const files = readdirSync(output, { recursive: true, encoding: 'utf8' }).map(name => join(output, name)).filter(path => statSync(path).isFile())
      const built = files.map(path => readFileSync(path, 'latin1')).join()
      for (const [, secret] of readFileSync(join(app.cwd, '.env'), 'utf8').matchAll(/SECRET=(.+)/g)) expect(built).not.toContain(secret)
    })

    it('signs a user up on a phone, and creates, lists and deletes a task', async () => {
      const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage()
      const problems: string[] = []
      page.on('pageerror', error => problems.push(error.message))
      await page.goto(`${server!.url}/admin`)
      expect(new URL(page.url()).pathname).toBe('/sign-in')
      await page.waitForFunction(isHydrated)
      await page.getByRole('button', { name: 'Create an account' }).click()
      await page.getByLabel('Name').fill('Cleo')
      await page.getByLabel('Email').fill('cleo@example.com')
      await page.getByLabel('Password').fill('correct horse battery')
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByText('No tasks yet').waitFor()
      await page.waitForFunction(isHydrated)
      await page.getByRole('link', { name: 'New task' }).first().click()
      await page.getByLabel('Title').fill('Call the plumber')
      await page.getByRole('button', { name: 'Create task' }).click()
      await page.getByRole('checkbox', { name: 'Done: Call the plumber' }).click()
      await page.getByText('Done', { exact: true }).waitFor()
      expect(await page.getByRole('listitem').filter({ has: page.getByRole('checkbox') }).count()).toBe(1)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
      await page.getByRole('link', { name: 'Call the plumber' }).click()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete task' }).click()
      await page.getByText('No tasks yet').waitFor()
      expect(problems).toEqual([])
    })

    it('shows the task of the development server to its owner only', async () => {
      const cookie = await enter('sign-in', 'Ada')
      expect((await call<{ data: unknown[] }>(cookie, 'GET', '')).body.data).toMatchObject([{ id, title: 'Water the plants' }])
      expect((await call(undefined, 'GET', `/${id}`)).status).toBe(401)
    })

    it('shows all tasks in the admin to an administrator, and to others their own only', async () => {
      const admin = await openAs(await enter('sign-up', 'Dana'))
      const tasks = async () => {
        await admin.goto(`${server!.url}/admin/tasks`)
        await admin.waitForFunction(isHydrated)
        return await admin.getByText('Water the plants').count()
      }
      expect(await tasks()).toBe(0)
      const sql = /`(update "user" .*)`/.exec(readFileSync(join(app.cwd, 'README.md'), 'utf8'))![1]!
      await execute(app.cwd, sql.replace('ada@', 'dana@'))
      expect(await tasks()).toBeGreaterThan(0)
    })
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
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<'dependencies' | 'overrides', Record<string, string>>
  const dependencies = { ...manifest.dependencies, 'nuxt-auto-api': `file:${tarball}`, 'tailwindcss': overrides.tailwindcss as string }
  writeFileSync(file, JSON.stringify({ ...manifest, dependencies, overrides: { ...manifest.overrides, ...overrides } }, null, 2))
  return Object.keys(own).length
}
