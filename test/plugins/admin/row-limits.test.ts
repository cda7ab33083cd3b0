/** What the admin tells a caller about rules for rows: whether an operation has one, and neither the rule nor who passes it. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { eq } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, expect, it } from 'vitest'
import { adminPlugin } from '../../../src/runtime/plugins/admin'
import { createServer, type Caller } from '../../support/server'

const tenant = { organizationId: integer('organization_id').notNull() }
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(), authorId: integer('author_id'), ...tenant, deletedAt: integer('deleted_at', { mode: 'timestamp' }),
})
const notes = sqliteTable('notes', { id: integer('id').primaryKey(), ownerId: integer('owner_id') })
const wages = sqliteTable('wages', { id: integer('id').primaryKey(), amount: text('amount') })
const plain = sqliteTable('plain', { id: integer('id').primaryKey(), ...tenant })

let client: Database.Database
afterEach(() => client?.close())

async function open(hasMiddleware = false) {
  client = new Database(':memory:')
  const asked: string[] = []
  const server = await createServer({
    db: drizzle({ client }),
    registrations: [
      {
        name: 'posts',
        schema: posts,
        authorization: {
          permissions: { read: true, create: 'writer', update: 'writer', delete: 'editor', purge: 'chief' },
          listFilter: (_table, ctx) => {
            asked.push(`posts ${ctx.operation}`)
            return ctx.permissions.includes('editor') || ctx.operation === 'read' ? undefined : eq(posts.authorId, ctx.user!.id as number)
          },
        },
      },
      { name: 'notes', schema: notes, authorization: { permissions: { read: true }, objectLevel: row => row.ownerId === 1 } },
      {
        name: 'wages',
        schema: wages,
        authorization: {
          permissions: { read: 'chief' },
          listFilter: (_table, { operation }) => {
            asked.push(`wages ${operation}`)
            throw new Error('secret')
          },
        },
      },
      { name: 'plain', schema: plain, authorization: { permissions: { read: true } } },
    ],
    config: {
      multiTenancy: {
        enabled: true, tenantIdField: 'organizationId', userTenantField: 'organizationId', scopedResources: ['posts', 'plain'],
        excludedResources: [],
      },
    },
    plugins: [adminPlugin({ hasMiddleware, branding: {}, pages: [], resources: {} }, {})],
  })
  return { asked, read: (caller?: Caller) => server.request('GET', '/api/_admin/rows', { caller }) }
}

const caller = (...permissions: string[]): Caller => ({ user: { id: 1, organizationId: 1, permissions } })
const limitsOf = async (...permissions: string[]) => (await (await open()).read(caller(...permissions))).body.resources

it('names the operations of the caller that a rule limits, and the tenant', async () => {
  expect(await limitsOf('writer')).toEqual({
    posts: { tenant: true, limited: ['canUpdate', 'canAggregate', 'canRestore'] },
    notes: { tenant: false, limited: ['canRead', 'canAggregate'] },
    plain: { tenant: true, limited: [] },
  })
  // The rule has no condition for an editor.
  expect((await limitsOf('writer', 'editor')).posts).toEqual({ tenant: true, limited: [] })
})

it('asks no rule of an operation that the caller cannot use, and names no resource that the caller cannot use', async () => {
  const { asked, read } = await open()
  const { text, headers } = await read(caller('writer'))
  expect(asked).toEqual(['posts read', 'posts update', 'posts aggregate', 'posts restore'])
  expect([headers.get('cache-control'), /wages|secret|authorId|author_id/.test(text)]).toEqual(['no-store', false])
})

it('counts a rule that throws as one that hides rows', async () => {
  const { body, text } = await (await open()).read(caller('writer', 'chief'))
  expect([body.resources.wages, text.includes('secret')]).toEqual([{ tenant: false, limited: ['canRead', 'canAggregate'] }, false])
})

it.each([
  ['anonymous callers', undefined, 401], ['a caller who can only read', caller(), 403],
])('is refused to %s', async (_who, who, status) => {
  const { asked, read } = await open()
  expect([(await read(who)).status, asked]).toEqual([status, []])
})

it('has nothing for anonymous callers that a middleware lets pass', async () => {
  const { asked, read } = await open(true)
  const { status, body } = await read()
  expect([status, body, asked]).toEqual([200, { resources: {} }, []])
})
