/** `explainAccess` names the rule that decided: one case for each kind of refusal and of hiding. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ne, relations } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineAutoApiPlugin, defineResource, type AutoApiContext } from '../../../src/runtime/server/define'
import { createTestApi, explainAccess, type ExplainedRequest } from '../../../src/runtime/testing'
import { DECISION_KINDS } from '../../../src/runtime/shared/explanation'
import { createTablesSql } from '../../support/create-tables'
import { root } from '../../support/once'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(), title: text('title').notNull(), status: text('status').notNull().default('published'),
  ownerId: integer('owner_id').notNull().default(1), organizationId: integer('organization_id').notNull().default(1),
  salary: integer('salary'), secret: text('secret'), deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const notes = sqliteTable('notes', { id: integer('id').primaryKey(), postId: integer('post_id').references(() => posts.id), body: text('body') })
const drafts = sqliteTable('drafts', { id: integer('id').primaryKey(), body: text('body') })
const postRelations = relations(posts, ({ many }) => ({ notes: many(notes) }))
const noteRelations = relations(notes, ({ one }) => ({ post: one(posts, { fields: [notes.postId], references: [posts.id] }) }))

const ROWS = [
  { id: 1, title: 'plain' },
  { id: 2, title: 'foreign', organizationId: 2 },
  { id: 3, title: 'draft', status: 'draft' },
  { id: 4, title: 'withheld', status: 'withheld' },
  { id: 5, title: 'trashed', deletedAt: new Date() },
  { id: 6, title: 'of another', ownerId: 2 },
]

const token = defineAutoApiPlugin({
  name: 'token',
  credentials: ({ header }) => header('authorization') === 'Bearer scoped'
    ? { user: { id: 1, organizationId: 1, role: 'editor' }, permissions: ['editor'], scopes: ['posts:read'] }
    : undefined,
})
const withholding = defineAutoApiPlugin({ name: 'withholding', rows: { posts: table => ne((table as typeof posts).status, 'withheld') } })

const ann = { user: { id: 1, organizationId: 1, role: 'editor' } }

const open = () => {
  const client = new Database(':memory:')
  return { client, db: drizzle({ client }) }
}
let api: Awaited<ReturnType<typeof createApi>>

async function createApi() {
  const { client, db } = open()
  client.exec(await createTablesSql('sqlite', { posts, notes, drafts }))
  for (const row of ROWS) db.insert(posts).values(row).run()
  const { createEndpoint } = await import('../../../src/runtime/server/utils/index')
  return createTestApi({
    database: db,
    engine: 'better-sqlite3',
    multiTenancy: {},
    schema: { posts, notes, drafts, postRelations, noteRelations },
    resources: {
      posts: defineResource(posts, {
        hiddenFields: ['secret'],
        permissions: { read: true, create: 'editor', update: true, delete: ({ user }: AutoApiContext) => user?.id === 7, purge: () => {
          throw new Error('no such table: roles')
        } },
        listFilter: (table: typeof posts) => ne(table.status, 'draft'),
        objectLevel: (row: typeof posts.$inferSelect, ctx: AutoApiContext) => ctx.operation === 'read' || row.ownerId === ctx.user?.id,
        fields: { salary: { read: 'payroll', write: 'payroll' } },
        custom: { publish: { permissions: { update: 'publisher' } } },
        relations: postRelations,
      } as never),
      notes: defineResource(notes, { permissions: { read: 'editor', create: 'editor' }, disabled: ['update'], relations: noteRelations } as never),
      drafts: { schema: drafts },
    },
    plugins: [token, withholding],
    endpoints: async () => ({
      'POST /api/posts/:id/publish': createEndpoint({
        resource: 'posts', operation: 'update', endpointName: 'publish', dryRun: true, body: z.object({}), handler: () => ({}),
      }),
    }),
    callers: {
      ann,
      reader: { user: { id: 3, organizationId: 1, role: 'reader' } },
      stateless: { user: { id: 4, role: 'editor' } },
      scoped: { headers: { authorization: 'Bearer scoped' } },
    },
  })
}

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  api = await createApi()
})

type Case = [why: string, request: ExplainedRequest<'ann' | 'reader' | 'stateless' | 'scoped' | 'anonymous'>, expected: object]

const CASES: Case[] = [
  ['a permission that the caller does not have', { as: 'reader', method: 'POST', path: '/posts', body: { title: 'x' } }, {
    status: 403, code: 'FORBIDDEN',
    decision: { kind: 'permission', rule: 'posts.authorization.permissions.create', requires: '\'editor\'', operation: 'create' },
    caller: { signedIn: true, id: 3, roles: ['reader'], tenant: 1 },
  }],
  ['an anonymous caller', { method: 'GET', path: '/notes' }, {
    status: 401, decision: { kind: 'permission', rule: 'notes.authorization.permissions.read' }, caller: { signedIn: false },
  }],
  ['a function that refuses', { as: 'ann', method: 'DELETE', path: '/posts/1' }, {
    status: 403, decision: { kind: 'permission', rule: 'posts.authorization.permissions.delete', text: expect.stringContaining('It returned false.') },
  }],
  ['a function that throws', { as: 'ann', method: 'DELETE', path: '/posts/1', query: { force: true } }, {
    status: 403, decision: { kind: 'permission', rule: 'posts.authorization.permissions.purge', text: expect.stringContaining('It threw: no such table') },
  }],
  ['a permission that is not declared', { as: 'ann', method: 'DELETE', path: '/notes/1' }, {
    status: 403, decision: { kind: 'permission', rule: 'notes.authorization.permissions', text: expect.stringContaining('declares no permission for `delete`') },
  }],
  ['a resource without authorization', { as: 'ann', path: '/drafts' }, { status: 403, decision: { kind: 'authorization', rule: 'drafts' } }],
  ['a disabled operation', { as: 'ann', method: 'PATCH', path: '/notes/1', body: {} }, { status: 405, decision: { kind: 'disabled' } }],
  ['a caller without a tenant', { as: 'stateless', path: '/posts' }, { status: 403, code: 'TENANT_REQUIRED', decision: { kind: 'tenant' } }],
  ['a row of another tenant', { as: 'ann', path: '/posts/2' }, { status: 404, decision: { kind: 'tenant', id: '2' } }],
  ['listFilter', { as: 'ann', path: '/posts/3' }, { status: 404, decision: { kind: 'listFilter', rule: 'posts.authorization.listFilter', id: '3' } }],
  ['rows of a plugin', { as: 'ann', path: '/posts/4' }, { status: 404, decision: { kind: 'plugin rows', rule: 'rows of the plugin withholding' } }],
  ['the trash', { as: 'ann', path: '/posts/5' }, { status: 404, decision: { kind: 'trash', id: '5', rule: 'posts.deletedAt' } }],
  ['objectLevel', { as: 'ann', method: 'PATCH', path: '/posts/6', body: { title: 'x' } }, {
    status: 403, decision: { kind: 'objectLevel', rule: 'posts.authorization.objectLevel', id: '6' },
  }],
  ['a row that does not exist', { as: 'ann', path: '/posts/99' }, { status: 404, decision: { kind: 'missing', id: '99' } }],
  ['a field that the caller cannot write', { as: 'ann', method: 'PATCH', path: '/posts/1', body: { salary: 1 } }, {
    status: 403, code: 'FIELD_FORBIDDEN', decision: { kind: 'field', rule: 'posts.authorization.fields.salary.write', requires: '\'payroll\'' },
  }],
  ['a field that the caller cannot read', { as: 'ann', path: '/posts', query: { sort: 'salary' } }, {
    status: 400, code: 'UNKNOWN_FIELD', decision: { kind: 'field', rule: 'posts.authorization.fields.salary.read' },
  }],
  ['a hidden field', { as: 'ann', path: '/posts', query: { filter: { secret: 'x' } } }, {
    status: 400, decision: { kind: 'field', rule: 'posts.hiddenFields' },
  }],
  ['the gate of an endpoint', { as: 'ann', method: 'POST', path: '/posts/1/publish', body: {} }, {
    status: 403, decision: { kind: 'gate', rule: 'posts.authorization.custom.publish.permissions.update', requires: '\'publisher\'' },
  }],
  ['an included resource', { as: 'reader', path: '/posts', query: { include: 'notes' } }, {
    status: 403, decision: { kind: 'permission', resource: 'notes', rule: 'notes.authorization.permissions.read' },
  }],
  ['the scopes of a credential', { as: 'scoped', method: 'POST', path: '/posts', body: { title: 'x' } }, {
    status: 403, decision: { kind: 'credential', rule: 'scopes', text: expect.stringContaining('posts:read') },
  }],
  ['an invalid request', { as: 'ann', path: '/posts', query: { limit: 'many' } }, { status: 400, decision: { kind: 'request' } }],
  ['a list without rows of others', { as: 'ann', path: '/posts' }, {
    status: 200,
    decision: { kind: 'tenant', passed: false },
    rows: [{ resource: 'posts', total: 6, visible: 2, rules: [
      { kind: 'tenant', hidden: 1 }, { kind: 'trash', hidden: 1 }, { kind: 'listFilter', hidden: 1 }, { kind: 'plugin rows', hidden: 1 },
      { kind: 'objectLevel', hidden: 0 },
    ] }],
  }],
]

describe('explainAccess explains', () => {
  it.each(CASES)('%s', async (_, request, expected) => {
    const explanation = await explainAccess(api, request)
    expect(explanation).toMatchObject(expected)
    expect(explanation.toString()).toContain(explanation.decision.text)
  })
})

describe('the docs page explain', () => {
  const page = readFileSync(join(root, 'docs/2.guides/20.explain.md'), 'utf8')

  it('shows how a test asks', async () => {
    const { decision } = await explainAccess(api, { as: 'ann', path: '/posts/3' })
    expect(decision).toMatchObject({ kind: 'listFilter', rule: 'posts.authorization.listFilter' })
  })

  it('lists every kind of decision', () => {
    const listed = [...page.matchAll(/^\| `([a-z ]+)` \|/gim)].map(([, kind]) => kind)
    expect(listed.filter(kind => kind !== 'kind').toSorted()).toEqual([...DECISION_KINDS].toSorted())
  })

  it('shows the form of an explanation', async () => {
    const example = JSON.parse(/```json\n([^`]+(?:`[^`]+`[^`]*)*)```/.exec(page)![1]!) as Record<string, object>
    const explained = await explainAccess(api, { as: 'ann', path: '/posts/3' }) as unknown as Record<string, object>
    expect(Object.keys(explained)).toEqual(expect.arrayContaining(Object.keys(example)))
    const keysOf = (value: object) => Object.keys(value).filter(key => key !== 'place').toSorted()
    expect(keysOf(example.decision!)).toEqual(keysOf(explained.decision!))
    expect(keysOf(example.caller!)).toEqual(keysOf(explained.caller!))
  })
})
