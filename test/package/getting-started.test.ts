/** Follows the pages for beginners literally, in an empty app on Node 24 and on Node 20. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FOLLOWED_PAGES } from '../support/markdown'
import { findNode20 } from '../support/node-20'
import { findPackages, findSnippets } from '../../src/cli/snippets'
import { root } from '../support/once'
import { createEmptyApp, NOT_INSTALLED, readPage, stepsOf, type FollowedApp } from './follow'
import { runOnPostgres } from './postgres'
import { createFolder, run } from './tarball'

const PAGE = 'docs/1.start/1.getting-started.md'

it('declares rules and registration in at most 10 lines', () => {
  const { code } = findSnippets(readPage(PAGE)).find(({ source }) => source === 'server/resources/posts.ts')!
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(10)
})

describe.each([
  { name: 'Node 24', node: () => process.execPath, versions: undefined },
  // The newest Nuxt 4 needs Node 22.
  { name: 'Node 20', node: findNode20, versions: { 'nuxt': '4.0.3', 'drizzle-orm': '0.45.2' } },
])('an empty app on $name', ({ name, node, versions }) => {
  const app: FollowedApp = { cwd: createFolder(), node: node() }
  beforeAll(() => createEmptyApp(app.cwd, versions))
  afterAll(async () => {
    await app.server?.stop()
    rmSync(app.cwd, { recursive: true, force: true })
  })

  const steps = stepsOf(PAGE)
  const build = steps.findIndex(({ title }) => title === 'runs npx drizzle-kit generate')

  it.each(steps.slice(0, build))(`follows ${PAGE}: $title`, step => step.run(app))

  it('renders the record on the page', async () => {
    const html = await (await fetch(app.server!.url)).text()
    expect(html).toContain('Hello</li>')
  })

  it.each(steps.slice(build))(`follows ${PAGE}: $title`, async (step) => {
    // The page says so: the first migration creates the table that `push` has created.
    if (step.title === 'runs npx drizzle-kit migrate') rmSync(join(app.cwd, 'local.db'))
    await step.run(app)
  })

  it('renders the page on the built server, which does not accept the header of the development server', async () => {
    const headers = { 'x-demo-role': 'editor', 'content-type': 'application/json' }
    const refused = await fetch(`${app.server!.url}/api/posts`, { method: 'POST', headers, body: '{"title":"Hello"}' })
    expect(refused.status).toBe(401)
    expect(await (await fetch(app.server!.url)).text()).toContain('<h1>Posts</h1>')
  })

  if (name === 'Node 24') {
    it('type checks', () => {
      run(app.cwd, 'nuxi', 'prepare')
      run(app.cwd, join(root, 'node_modules/.bin/vue-tsc'), '-b', '--noEmit')
    })

    describe('with PostgreSQL', () => {
      const database = `pages_${randomUUID().replaceAll('-', '')}`
      // The variable has priority over the file `.env` of the page.
      const onPostgres: FollowedApp = { ...app, env: { DATABASE_URL: `postgres://postgres@127.0.0.1:5432/${database}` } }
      beforeAll(() => runOnPostgres(`create database ${database}`))
      afterAll(async () => {
        await onPostgres.server?.stop()
        await runOnPostgres(`drop database ${database} with (force)`)
      })

      it.each(stepsOf('docs/1.start/3.postgres.md'))('follows docs/1.start/3.postgres.md: $title', step => step.run(onPostgres))
    })
  }

  it('has no package that the pages do not install', () => {
    for (const name of NOT_INSTALLED) expect(existsSync(join(app.cwd, 'node_modules', name))).toBe(false)
    const installed = Object.keys(JSON.parse(readFileSync(join(app.cwd, 'package.json'), 'utf8')).dependencies as object)
    const named = new Set([
      ...FOLLOWED_PAGES.flatMap(page => findPackages(readPage(page)).map(({ name }) => name)),
      ...NOT_INSTALLED,
      'nuxt',
    ])
    expect(installed.filter(name => !named.has(name))).toEqual([])
  })
})
