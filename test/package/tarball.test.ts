/** Checks the packed tarball: installed in a new app, built, started and requested over HTTP. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { basename, join } from 'node:path'
import Database from 'better-sqlite3'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UPGRADE_NOTES } from '../../src/build/problem'
import { createFolder, installPackedPackage, run, startBuiltApp, type RunningServer } from './tarball'

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = Object.keys(manifest.exports).map(path => `nuxt-auto-api${path.slice(1)}`)

/**
 * Accepted messages. The types of `#auto-api/*` have a second path, in the sources, so that apps in this repository can be type checked
 * before the build. The tarball contains the first path, so the second is not used.
 */
const ACCEPTED = ['IMPORTS_FALLBACK_ARRAY_USE']

/** The entry that only Vue code of a Nuxt app can import. */
const VUE_ENTRY = 'nuxt-auto-api/app'

const folder = createFolder()
const env = { OUTBOX_KEY: 'k-0', MIGRATIONS: join(folder, 'migrations/outbox') }
let tarball: string

beforeAll(async () => {
  tarball = await installPackedPackage(folder, { files: 'outbox', server: 'test/unit/server/plugin/examples' })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the packed tarball', () => {
  it('is packed in a fresh clone in which no other command has run', () => {
    expect(basename(tarball)).toBe(`nuxt-auto-api-${manifest.version}.tgz`)
  })

  it('passes publint except for accepted messages', async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(tarball)
    const { messages, pkg } = await publint({
      pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer },
    })
    const remarks = messages.filter(({ code }) => !ACCEPTED.includes(code))
    expect(remarks.map(message => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  it.each(entries.filter(entry => entry !== VUE_ENTRY))('can be imported by Node: %s', (entry) => {
    const options = entry.endsWith('.json') ? ', { with: { type: \'json\' } }' : ''
    const names = run(
      folder,
      process.execPath,
      '--input-type=module',
      '--eval',
      `console.log(Object.keys(await import('${entry}'${options})).join())`,
    )
    expect(names.trim()).not.toBe('')
  })

  it('contains the page to which the messages of the build link', () => {
    const [, page] = /^node_modules\/nuxt-auto-api\/(.+)$/.exec(UPGRADE_NOTES)!
    expect(readFileSync(join(folder, 'node_modules/nuxt-auto-api', page!), 'utf8')).toContain('# Upgrading')
  })

  it('contains the files for coding agents, and the page that errors name', () => {
    const read = (path: string) => readFileSync(join(folder, 'node_modules/nuxt-auto-api', path), 'utf8')
    expect(read('llms.txt')).toContain('](docs/1.start/1.getting-started.md)')
    expect(read('docs/errors.md')).toContain('### UNKNOWN_FIELD')
    expect(read('skills/nuxt-auto-api/SKILL.md')).toContain('name: nuxt-auto-api')
  })

  it('requires Drizzle 0.45.2 or newer, because older versions allow SQL injection', () => {
    expect(manifest.peerDependencies['drizzle-orm']).toMatch(/^>=0\.45\.2 /)
  })
})

describe('the command nuxt-auto-api', () => {
  it('prints the files that init would write', () => {
    const printed = run(folder, 'nuxt-auto-api', 'init', '--dry-run')
    expect(printed).toContain('created  server/resources/posts.ts')
    expect(printed).toContain('kept     nuxt.config.ts: it lists \'nuxt-auto-api\' already')
    expect(existsSync(join(folder, 'server/resources/posts.ts'))).toBe(false)
  })

  it('refuses to add a resource that exists, with exit code 1', () => {
    expect(() => run(folder, 'nuxt-auto-api', 'add', 'books')).toThrow(/server\/resources\/books\.ts`? exists already/)
  })

  it('checks the app, and compares the access matrix', () => {
    expect(() => run(folder, 'nuxt-auto-api', 'check')).toThrow(/access-matrix\.md`?, the access matrix, does not exist/)
    run(folder, 'nuxt-auto-api', 'check', '--update')
    expect(readFileSync(join(folder, 'access-matrix.md'), 'utf8')).toMatch(
      /^## books\n\n.*\n.*\n\| read \| everybody \|\n\| create \| `\(?ctx\)? => !!ctx\.user` \|\n\| update \| nobody \|$/m,
    )
  })
})

describe('the test kit', () => {
  it('runs with node:test', () => {
    expect(run(folder, process.execPath, '--test', 'test/access.test.mjs')).toMatch(/pass 1\n/)
  })

  it('runs with vitest', () => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    expect(run(folder, process.execPath, vitest, 'run', '--globals', '--no-color', '--root', folder, 'test/access.test.mjs')).toMatch(
      /Tests +1 passed/,
    )
  })
})

const kit = (...args: string[]) => run(folder, process.execPath, join(root, 'node_modules/drizzle-kit/bin.cjs'), ...args)

describe('drizzle-kit reads the column presets of the package', () => {
  const schemaOf = (dialect: string) => `./server/database/presets/${dialect}.ts`

  it.each([
    ['sqlite', 'sqlite'],
    ['pg', 'postgresql'],
    ['mysql', 'mysql'],
  ])('and generates a migration from nuxt-auto-api/schema/%s', (entry, dialect) => {
    const out = `./migrations/${entry}`
    kit('generate', `--dialect=${dialect}`, `--schema=${schemaOf(entry)}`, `--out=${out}`)
    const [migration] = readdirSync(join(folder, out)).filter(name => name.endsWith('.sql'))
    const text = readFileSync(join(folder, out, migration!), 'utf8')
    expect(text).toMatch(/CREATE TABLE [`"]shelves[`"] [^;]*organization_id[^;]*created_at[^;]*deletion_id/)
    expect(text).toMatch(/CREATE TABLE [`"]task_runs[`"] [^;]*task[^;]*due/)
    for (const table of ['api_tokens', 'audit_log', 'idempotency_keys'])
      expect(text).toMatch(new RegExp('CREATE TABLE [`"]' + table + '[`"]'))
  })

  it('and pushes them to a database', () => {
    const file = join(folder, 'pushed.db')
    kit('push', '--force', '--dialect=sqlite', `--schema=${schemaOf('sqlite')}`, `--url=${file}`)
    const database = new Database(file, { readonly: true })
    const columns = database.pragma('table_info(shelves)') as { name: string }[]
    database.close()
    expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(['id', 'organization_id', 'name', 'created_at', 'deletion_id']))
  })
})

describe('a fresh app that has it installed', () => {
  let server: RunningServer | undefined

  beforeAll(async () => {
    kit('generate', '--dialect=sqlite', '--schema=./server/schema.ts', `--out=${env.MIGRATIONS}`)
    run(folder, 'nuxi', 'build')
    server = await startBuiltApp(folder, env)
  })

  afterAll(() => server?.stop())

  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(server!.url + path, init)
    return { status: response.status, location: response.headers.get('location'), body: await response.json() }
  }
  const write = (body: object, headers: Record<string, string> = {}): RequestInit =>
    ({ method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })

  it('responds with a list to an anonymous caller', async () => {
    expect(await ask('/api/books?limit=2')).toEqual({
      status: 200,
      location: null,
      body: { data: [{ id: 1, title: 'Middlemarch' }, { id: 2, title: 'Emma' }], meta: { page: 1, limit: 2, total: 3 } },
    })
  })

  it('renders the data of its composables', async () => {
    const page = await fetch(server!.url)
    expect(await page.text()).toContain('First: Middlemarch')
  })

  it('refuses a write without permission and writes nothing', async () => {
    const refused = await ask('/api/books', write({ title: 'Persuasion' }))
    expect(refused).toMatchObject({ status: 401, body: { data: { code: 'UNAUTHENTICATED' } } })
    expect((await ask('/api/books')).body.meta.total).toBe(3)
  })

  it('creates a record for a caller with permission', async () => {
    const created = await ask('/api/books', write({ title: 'Persuasion' }, { 'x-user': 'ada' }))
    expect(created).toEqual({ status: 201, location: '/api/books/4', body: { id: 4, title: 'Persuasion' } })
    expect(await ask('/api/books/4')).toMatchObject({ status: 200, body: created.body })
  })

  it('records a change in the outbox that nuxt.config lists, and streams it to the worker only', async () => {
    const { body: { id } } = await ask('/api/books', write({ title: 'Shirley' }, { 'x-user': 'bob' }))
    const stream = await fetch(`${server!.url}/api/events/stream`, { headers: { 'x-outbox-key': env.OUTBOX_KEY } })
    expect([stream.status, stream.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const last = JSON.parse((await stream.text()).trimEnd().split('\n').at(-1)!)
    expect(last).toMatchObject({
      kind: 'books.create',
      recordId: String(id),
      after: JSON.stringify({ id, title: 'Shirley' }),
      userId: 'bob',
    })
    expect(await ask('/api/events')).toMatchObject({ status: 401 })
    expect(await ask('/api/events', { headers: { 'x-user': 'bob' } })).toMatchObject({ status: 403 })
  })

  it('refuses paths that neither the API nor the app handles, without naming what there is', async () => {
    const answer = await fetch(`${server!.url}/api/authors`)
    const { data, message } = await answer.json() as { data: { code: string }, message: string }
    expect([answer.status, data.code, message]).toEqual([404, 'NOT_FOUND', 'There is no such route.'])
  })

  it('type checks, with the declarations of every entry', () => {
    run(folder, 'nuxi', 'prepare')
    run(folder, join(root, 'node_modules/.bin/vue-tsc'), '-b', '--noEmit')
  })
})

describe('an app without @tanstack/vue-query', () => {
  let server: RunningServer | undefined
  let printed: string

  beforeAll(async () => {
    rmSync(join(folder, 'node_modules/@tanstack'), { recursive: true })
    writeFileSync(
      join(folder, 'app/app.vue'),
      '<script setup>if (useRoute().query.list) useAutoApiList(\'books\')</script>\n<template><p>API only</p></template>\n',
    )
    // Warnings are printed to stderr.
    printed = run(folder, 'sh', '-c', 'nuxi build 2>&1')
    server = await startBuiltApp(folder, env)
  })

  afterAll(() => server?.stop())

  it('builds without a warning, because an app without pages does not need it', () => {
    expect(printed).not.toContain('vue-query')
  })

  it('fails where a page uses a composable', async () => {
    expect((await fetch(`${server!.url}/?list=1`)).status).toBe(500)
  })

  it('responds to requests of its API and renders its pages', async () => {
    expect((await fetch(`${server!.url}/api/books`)).status).toBe(200)
    expect(await (await fetch(server!.url)).text()).toContain('API only')
  })
})
