/** What the admin tells a caller: only the pages, resources and fields that the API permits. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { adminPlugin } from '../../../src/runtime/plugins/admin'
import { findUsers } from '../../../src/runtime/plugins/admin/features'
import type { AdminOffer } from '../../../src/runtime/server/plugin/features'
import type { AdminConfig } from '../../../src/runtime/shared/types/admin'
import { createServer, type Caller } from '../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(), title: text('title').notNull(), salary: integer('salary'), secret: text('secret'),
  organizationId: integer('organization_id').notNull(),
})
const users = sqliteTable('users', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  favouriteId: integer('favourite_id').references(() => posts.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp' }),
})

const PAGES: AdminConfig['pages'] = [
  { path: '/open', label: 'Open', component: '/open.vue', permissions: [] },
  { path: '/edit', label: 'Edit', component: '/edit.vue', permissions: [['posts', 'update']] },
  { path: '/both', label: 'Both', icon: 'i-lucide-star', component: '/both.vue', permissions: [['posts', 'update'], ['users', 'purge']] },
  { path: '/aggregate', label: 'Aggregate', component: '/edit.vue', permissions: [['posts', 'aggregate']] },
  { path: '/trash', label: 'Trash of posts', component: '/edit.vue', permissions: [['posts', 'restore']] },
  { path: '/unknown', label: 'Unknown', component: '/edit.vue', permissions: [['nothing', 'read']] },
]
const CHUNKS = Object.fromEntries(['/open', '/edit', '/both', '/field'].map(path => [`${path}.vue`, { script: `${path}.js`, styles: [] }]))
const CONFIG: AdminConfig = {
  hasMiddleware: false,
  branding: { name: 'News' },
  pages: PAGES,
  resources: {
    posts: {
      icon: 'i-lucide-file', columns: ['title', 'salary', 'secret', 'none', 'users.$count', 'nobody.$count', 'constructor.$count'],
      fields: { salary: { label: 'Pay' }, secret: { label: 'Secret' }, title: { component: '/field.vue' }, none: { help: 'None' } },
    },
    users: { label: 'People', hidden: true, columns: ['name', 'favourite.$count'] },
  },
}

let client: Database.Database
afterEach(() => client?.close())

async function open(config: Partial<AdminConfig> = {}, chunks = CHUNKS) {
  client = new Database(':memory:')
  const server = await createServer({
    db: drizzle({ client }),
    registrations: [
      {
        name: 'posts',
        schema: posts,
        hiddenFields: ['secret'],
        authorization: { permissions: { read: true, update: 'editor' }, fields: { salary: { read: 'chief', write: 'chief' } } },
      },
      {
        name: 'users',
        schema: users,
        metadata: { icon: 'i-lucide-user' },
        authorization: { permissions: { read: 'chief', delete: 'chief' } },
      },
    ],
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: ['posts'],
        excludedResources: [],
      },
    },
    plugins: [adminPlugin({ ...CONFIG, ...config }, chunks)],
  })
  return (caller?: Caller) => server.request('GET', '/api/_admin', { caller })
}

const caller = (...permissions: string[]): Caller => ({ user: { id: 1, organizationId: 1, permissions } })
const paths = (body: { pages: { path: string }[] }) => body.pages.map(({ path }) => path)

const REGISTERED = { label: 'Members', capabilities: { canRead: true }, fields: { name: { readable: true }, email: { readable: false } } }
const references = { resource: 'members', field: 'id' }

describe('the users', () => {
  const ACTIVITY = [{ users: { resource: 'members', label: 'name' } }]
  const NOTES = { capabilities: { canRead: true }, fields: { ownerId: { references }, authorId: { role: 'createdBy', references } } }

  it.each<[how: string, resources: object, offers: AdminOffer[], found: object | undefined]>([
    [
      'are those of the activity feed, with its label',
      { members: REGISTERED, users: REGISTERED },
      ACTIVITY,
      { resource: 'members', label: 'name' },
    ],
    ['are those to which a column with the author refers', { notes: NOTES, members: REGISTERED }, [], { resource: 'members' }],
    ['are not known by the name of a resource', { users: REGISTERED }, [], undefined],
    [
      'are not named if the caller cannot read them',
      { notes: NOTES, members: { ...REGISTERED, capabilities: { canRead: false } } },
      ACTIVITY,
      undefined,
    ],
    ['are not named if the caller cannot see them at all', { notes: NOTES }, ACTIVITY, undefined],
    [
      'have no name that the caller cannot read',
      { notes: NOTES, members: REGISTERED },
      [{ users: { resource: 'members', label: 'email' } }],
      { resource: 'members' },
    ],
  ])('%s', (_how, resources, offers, found) => {
    expect(findUsers(resources as never, offers)).toEqual(found)
  })
})

describe('the admin', () => {
  it.each([
    ['anonymous callers', undefined, 401, 'UNAUTHENTICATED'],
    ['a caller who can only read', caller(), 403, 'FORBIDDEN'],
    ['an editor without a tenant', { user: { id: 1, permissions: ['editor'] } }, 403, 'FORBIDDEN'],
  ] as const)('refuses %s', async (_who, who, status, code) => {
    const { status: answered, body } = await (await open())(who)
    expect([answered, body.data.code]).toEqual([status, code])
    expect(JSON.stringify(body)).not.toMatch(/open|edit|News|posts/i)
  })

  it.each([
    ['an editor', caller('editor'), ['/open', '/edit', '/aggregate']],
    ['a chief', caller('chief'), ['/open', '/aggregate']],
    ['both', caller('editor', 'chief'), ['/open', '/edit', '/both', '/aggregate']],
    ['a super-admin, on a table without trash', caller('*'), ['/open', '/edit', '/both', '/aggregate']],
  ])('shows %s the pages whose permissions they all have, with fallbacks', async (_who, who, expected) => {
    const { body, headers, text } = await (await open())(who)
    expect([paths(body), headers.get('cache-control')]).toEqual([expected, 'no-store'])
    for (const { path, label, component } of PAGES.filter(({ path }) => !expected.includes(path))) {
      expect(text).not.toContain(`"${path}"`)
      expect(text).not.toContain(label === 'Edit' || label === 'Both' ? `"${label}"` : label)
      if (component === '/both.vue') expect(text).not.toContain('both.js')
    }
    expect(text).not.toContain('"permissions":')
  })

  it('shows only resources and fields that the caller can use', async () => {
    const request = await open()
    const capabilities = {
      canRead: true,
      canCreate: false,
      canUpdate: true,
      canDelete: false,
      canAggregate: true,
      canRestore: false,
      canPurge: false,
      canViewDeleted: false,
    }
    const title = { chunk: CHUNKS['/field.vue'] }
    const shown = { label: 'Posts', singular: 'post', icon: 'i-lucide-file', capabilities, features: {} }
    expect((await request(caller('editor'))).body.resources).toEqual({ posts: { ...shown, columns: ['title'], fields: { title } } })
    expect((await request(caller('editor', 'chief'))).body.resources).toMatchObject({
      posts: { ...shown, columns: ['title', 'salary', 'users.$count'], fields: { salary: { label: 'Pay' }, title } },
      users: {
        label: 'People',
        icon: 'i-lucide-user',
        hidden: true,
        columns: ['name'],
        capabilities: { canDelete: true, canUpdate: false },
        fields: {},
        features: {},
      },
    })
  })

  it('leaves the decision who enters to a middleware, and still checks the permissions of pages', async () => {
    const request = await open({ hasMiddleware: true })
    const { status, body } = await request()
    expect([status, paths(body)]).toEqual([200, ['/open']])
    expect(paths((await request(caller())).body)).toEqual(['/open', '/aggregate'])
  })

  it('answers with an error instead of a page without files', async () => {
    expect((await (await open({}, {}))(caller('editor'))).status).toBe(500)
  })
})
