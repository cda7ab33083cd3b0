/** A development server explains requests of this machine. That a production build cannot: `bundle.test.ts`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RecordedRequest } from '../../src/runtime/shared/devtools'
import type { Explanation } from '../../src/runtime/shared/explanation'
import { startDevelopment, type Server } from './support/server'

const resources = mkdtempSync(join(tmpdir(), 'resources-'))

describe('a development server', () => {
  let server: Server

  beforeAll(async () => {
    writeFileSync(join(resources, 'novels.ts'), `import { ne } from 'drizzle-orm'
import { books } from '~~/server/database/schema'

export default defineResource(books, {
  permissions: {
    read: true,
    update: 'librarian',
    delete: ({ user }) => user?.id === 7,
  },
  listFilter: table => ne(table.title, 'Hidden'),
})
`)
    server = await startDevelopment('libsql', { RESOURCES_DIR: resources })
    for (const until = Date.now() + 60_000; (await fetch(`${server.url}/api/novels`)).status !== 200 && Date.now() < until;)
      await new Promise(resolve => setTimeout(resolve, 250))
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(resources, { recursive: true })
  })

  const read = async <T>(path: string, init?: RequestInit) => {
    const response = await fetch(server.url + path, init)
    return { status: response.status, body: await response.json() as T }
  }
  const ask = (body: object) => read<Explanation & { message?: string }>('/_auto-api/explain', { method: 'POST', body: JSON.stringify(body) })

  it('explains a GET with `explain=true`', async () => {
    const { status, body } = await read<Explanation>('/api/novels/99?explain=true')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      method: 'GET', path: '/api/novels/99', status: 404, code: 'NOT_FOUND', caller: { signedIn: false },
      decision: { kind: 'missing', resource: 'novels', id: '99' },
      checks: [{ kind: 'permission', rule: 'novels.authorization.permissions.read', passed: true }, { kind: 'missing' }],
    })
    expect(body.statements.length).toBeGreaterThan(0)
  })

  it.each([
    ['PATCH', 'user:1,role:reader', 'novels.authorization.permissions.update', 7],
    ['DELETE', 'user:1,role:reader', 'novels.authorization.permissions.delete', 8],
  ])('names the line of the rule, for another caller: %s', async (method, as, rule, line) => {
    const { body } = await ask({ method, path: '/api/novels/1', body: method === 'PATCH' ? { title: 'x' } : undefined, as })
    expect(body).toMatchObject({ status: 403, decision: { kind: 'permission', rule }, caller: { id: 1, roles: ['reader'] } })
    expect(body.decision.place).toMatch(new RegExp(`novels\\.ts:${line}$`))
  })

  it.each([
    [{ path: '/api/novels', as: 'editor' }, /no part of a caller/],
    [{ path: '/elsewhere' }, /has to begin with `\/api\/`/],
  ])('refuses what it cannot explain: %j', async (asked, message) => {
    const { status, body } = await ask(asked)
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)])
  })

  it('keeps the last requests, without those of explanations', async () => {
    await fetch(`${server.url}/_auto-api/devtools/requests`, { method: 'DELETE' })
    await fetch(`${server.url}/api/novels?limit=3`)
    await fetch(`${server.url}/api/novels/1`, { method: 'DELETE' })
    await ask({ path: '/api/novels' })
    const { body } = await read<RecordedRequest[]>('/_auto-api/devtools/requests')
    expect(body).toMatchObject([
      { method: 'DELETE', path: '/api/novels/1', status: 401, code: 'UNAUTHENTICATED', rule: 'novels: delete', statements: [] },
      { method: 'GET', path: '/api/novels?limit=3', status: 200, route: 'list', resource: 'novels', operation: 'read' },
    ])
    expect(body[1]!.statements).toHaveLength(2)
  })

  it('describes the resources and the access of a caller', async () => {
    const { body: described } = await read<{ resources: { name: string }[] }>('/_auto-api/devtools/resources')
    expect(described.resources.map(({ name }) => name)).toContain('novels')
    const { body } = await read('/_auto-api/devtools/access', { method: 'POST', body: '{"as":"role:librarian"}' })
    expect(body).toMatchObject({ caller: { roles: ['librarian'] } })
  })

  it('serves the page of the developer tools with its script', async () => {
    const page = await fetch(`${server.url}/_auto-api/devtools`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const [, script] = /<script type="module" src="([^"]+)"/.exec(await page.text())!
    const loaded = await fetch(server.url + script!)
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, expect.stringContaining('javascript')])
  })

  it('has Server-Timing', async () => {
    expect((await fetch(`${server.url}/api/novels`)).headers.get('server-timing')).toMatch(/^total;dur=/)
  })

  it.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['another name of this machine, as after DNS rebinding', { host: 'evil.localhost.example' }],
  ])('explains nothing to %s', async (_, headers) => {
    const statusOf = (path: string) => new Promise((resolve, reject) => {
      get(new URL(path, server.url), { headers }, (response) => {
        let text = ''
        response.on('data', chunk => text += chunk).on('end', () => resolve(/"decision"|"rootDir"/.test(text)))
      }).on('error', reject)
    })
    expect(await statusOf('/_auto-api/app')).toBe(false)
    expect(await statusOf('/api/novels?explain=true')).toBe(false)
  })

  // The server loads its code again, so this test is the last one.
  it('follows the lines of a file that changes', async () => {
    const file = join(resources, 'novels.ts')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, `// One more line.\n${text}`)
    const placeOf = async () => (await ask({ method: 'PATCH', path: '/api/novels/1', body: {}, as: 'role:reader' })).body.decision?.place
    await expect.poll(placeOf, { timeout: 30_000, interval: 500 }).toMatch(/novels\.ts:8$/)
  })
})
