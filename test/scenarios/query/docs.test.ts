/** Every request that the page on querying shows is asked of the playground's rows, and answered as the page says. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { beforeAll, describe, expect, it } from 'vitest'
import { commentsAuth } from '../../../playground/server/auth/comments'
import { mediaAuth } from '../../../playground/server/auth/media'
import { postsAuth } from '../../../playground/server/auth/posts'
import { PERMISSIONS } from '../../../playground/server/auth/roles'
import tagsResource from '../../../playground/server/resources/tags'
import { usersAuth } from '../../../playground/server/auth/users'
import { openDatabase } from '../../../playground/server/database/client'
import * as schema from '../../../playground/server/database/schema'
import { seedNewsroom } from '../../../playground/server/database/seed/index'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { COMBINATIONS, isComparison, OPERATORS } from '../../../src/runtime/shared/operators'
import { createServer, type TestServer } from '../../support/server'

const fileOf = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const page = readFileSync(fileOf('docs/3.reference/3.querying.md'), 'utf8')

/** `GET /api/posts?…  # 400 INVALID_QUERY`; without a remark it is answered. */
const requests = [...page.matchAll(/^```http\n([\s\S]*?)^```$/gm)].flatMap(({ 1: block, index }) => {
  const section = page.slice(0, index).split('\n').findLast(line => /^#+ /.test(line))
  return block!.trim().split('\n').map(line => ({ line, section }))
}).map(({ line, section }) => {
  const [, path, status = '200', code] = /^GET (\S.*?)(?: {2}# (\d+) (\w+))?$/.exec(line)!
  return { line, path: path!, status: Number(status), code, extended: section === '### Extended operators' }
})

const AUTHORIZATION = { posts: postsAuth, comments: commentsAuth, tags: tagsResource.authorization, users: usersAuth, media: mediaAuth }

let server: TestServer
let extendedServer: TestServer

beforeAll(async () => {
  const db = openDatabase(':memory:')
  migrate(db, { migrationsFolder: fileOf('playground/server/database/migrations') })
  seedNewsroom(db)
  const registrations = Object.entries(AUTHORIZATION).map(([name, authorization]) => ({
    name, schema: schema[name as keyof typeof AUTHORIZATION], authorization, ...name === 'users' && { hiddenFields: ['passwordHash'] },
  }) as ResourceRegistration)
  const open = (config: Partial<AutoApiConfig> = {}) =>
    createServer({ registrations, modules: [schema], db, config: { multiTenancy: DEFAULT_MULTI_TENANCY, ...config } })
  server = await open()
  extendedServer = await open({ filters: { extended: true } })
})

const caller = { user: { id: 1, organizationId: 1, role: 'editor' }, permissions: [...PERMISSIONS.editor] }

describe('the docs page querying', () => {
  it.each(requests)('$line', async ({ path, status, code, extended }) => {
    const answer = await (extended ? extendedServer : server).request('GET', path, { caller })
    expect([answer.status, answer.body.data?.code]).toEqual([status, code])
    if (status === 200 && 'meta' in answer.body) expect(answer.body.data.length).toBeGreaterThan(0)
  })

  it('lists every operator as the table of operators describes it', () => {
    const rows = [...page.matchAll(/^\| (?:`"[^|]*` or )?`(\$\w+)` \| (.*) \| (.*) \|$/gm)].map(([, ...cells]) => cells)
    expect(rows).toEqual(Object.entries(OPERATORS).map(([name, { matches, columns }]) => [name, matches, columns.label]))
    const [, having] = /Use them in `having` \(with (.*?)\)/.exec(page)!
    expect(having).toBe(Object.keys(OPERATORS).filter(isComparison).map(name => `\`${name}\``).join(' '))
  })

  it('shows every operator and every parameter in a request', () => {
    const asked = requests.map(({ line }) => line).join('\n')
    const parameters = [
      'page',
      'limit',
      'cursor',
      'cursorFields',
      'sort',
      'filter',
      'fields',
      'include',
      'aggregate',
      'groupBy',
      'having',
      'count',
      'includeDeleted',
      'onlyDeleted',
    ]
    expect(parameters.filter(name => !new RegExp(`[?&]${name}[=[]`).test(asked))).toEqual([])
    expect([...Object.keys(OPERATORS), ...COMBINATIONS].filter(name => !asked.includes(name) && !page.includes(`\`${name}\``))).toEqual([])
  })

  it('shows the envelopes as they are', async () => {
    const { body } = await server.request('GET', '/api/posts?aggregate=count,sum(views)&limit=1&fields=id', { caller })
    expect(Object.keys(body.meta)).toEqual(['page', 'limit', 'total', 'aggregates'])
    const [group] = (await server.request('GET', '/api/posts/aggregate?groupBy=status', { caller })).body.data
    expect(group).toEqual({ group: { status: 'archived' }, count: expect.any(Number) })
    const cursor = await server.request('GET', '/api/posts?cursor=&limit=5', { caller })
    expect(cursor.body.meta).toEqual({ limit: 5, hasMore: true, nextCursor: expect.any(String) })
  })
})
