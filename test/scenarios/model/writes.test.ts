/** Tests random sequences of writes by several callers against a plain model. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createServer } from '../../support/server.ts'
import { property, World } from './world.ts'
import { isFull } from '../../support/tiers'

const SEQUENCES = Number(process.env.SEQUENCES ?? (isFull ? 300 : 100))

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const tenant = () => ({ organizationId: integer('organization_id').notNull() })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  title: text('title').notNull().unique(),
  ...trash(),
})
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }), ...tenant(),
  postId: integer('post_id').references(() => posts.id), parentId: integer('parent_id').references((): AnySQLiteColumn => comments.id),
  body: text('body').notNull(), ...trash(),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const postTags = sqliteTable(
  'post_tags',
  {
    postId: integer('post_id')
      .notNull()
      .references(() => posts.id),
    tagId: integer('tag_id')
      .notNull()
      .references(() => tags.id),
  },
  table => [primaryKey({ columns: [table.postId, table.tagId] })],
)

async function createWorld(): Promise<() => World> {
  const client = new Database(':memory:')
  client.exec(`
    create table posts (id integer primary key autoincrement, organization_id integer not null, title text not null unique, deleted_at integer, deletion_id text);
    create table comments (id integer primary key autoincrement, organization_id integer not null, post_id integer references posts(id), parent_id integer references comments(id), body text not null, deleted_at integer, deletion_id text);
    create table tags (id integer primary key, name text not null);
    create table post_tags (post_id integer not null references posts(id), tag_id integer not null references tags(id), primary key (post_id, tag_id));
    insert into tags values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e');
  `)
  const permissions = { read: true as const, create: 'write', update: 'write', delete: 'write' }
  const server = await createServer({
    db: drizzle({ client }),
    modules: [{ posts, comments, tags, postTags }],
    registrations: [
      { name: 'posts', schema: posts, authorization: { permissions } },
      { name: 'comments', schema: comments, authorization: { permissions } },
      { name: 'tags', schema: tags, authorization: { permissions } },
    ],
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: '*',
        excludedResources: [],
      },
    },
  })
  return () => {
    client.exec(
      'delete from post_tags; update comments set parent_id = null; delete from comments; delete from posts; delete from sqlite_sequence',
    )
    return new World(server, sql => client.prepare(sql).raw().all() as unknown[][])
  }
}

describe('random sequences of writes by several callers', () => {
  it('leave the rows of the model after every write', async () => {
    const outcomes = new Map<string, number>()
    await fc.assert(property(await createWorld(), outcomes), { numRuns: SEQUENCES })

    console.log(`statuses: ${[...outcomes].sort().map(([status, count]) => `${status} × ${count}`).join(' · ')}`)
    expect([...outcomes.keys()].sort()).toEqual(['200', '201', '400', '401', '403', '404', '409'])
  }, 240_000)
})

type Module = Record<string, unknown>

/* eslint-disable @typescript-eslint/no-explicit-any -- a planted bug takes whatever the function takes */
const BUGS: readonly (readonly [name: string, file: string, patch: (original: Module) => Module])[] = [
  [
    'a cascade changes rows that are already in the trash',
    'write/cascade/statements',
    o => ({
      ...o,
      trashStatement: (call: any, closure: any, ...rest: any[]) => {
        const statement = (o.trashStatement as any)(call, { ...closure, followedRows: 'all' }, ...rest)
        return { ...statement, text: statement.text.replace(/"\w+"\."deleted_at" is null and/, '') }
      },
    }),
  ],
  [
    'a restore includes every child in the trash',
    'write/cascade/statements',
    o => ({
      ...o,
      restoreStatement: (call: any, closure: any, ...rest: any[]) =>
        (o.restoreStatement as any)(call, { ...closure, followedRows: 'all' }, ...rest),
    }),
  ],
  [
    'a delete does not cascade',
    'write/cascade/dependents',
    o => ({ ...o, findDependents: (...args: any[]) => ({ ...(o.findDependents as any)(...args), edges: [] }) }),
  ],
  ['references are not checked', 'write/references', o => ({ ...o, checkReferences: async () => {} })],
  [
    'the body sets the tenant',
    'write/server-values',
    o => ({
      ...o,
      createValues: (plan: any, values: any, ...rest: any[]) => ({ ...(o.createValues as any)(plan, values, ...rest), organizationId: 2 }),
    }),
  ],
  [
    'a replacement of links only adds links',
    'parse/relation',
    o => ({
      ...o,
      parseLink: async (...args: any[]) => {
        const ask = await (o.parseLink as any)(...args)
        return ask.mode === 'replace' ? { ...ask, mode: 'add' } : ask
      },
    }),
  ],
]
/* eslint-enable @typescript-eslint/no-explicit-any */

// These check the property itself.
if (isFull) describe('a planted bug', () => {
  afterEach(() => {
    for (const [, file] of BUGS) vi.doUnmock(`../../../src/runtime/server/core/${file}.ts`)
    vi.resetModules()
  })

  it.each(BUGS)('makes the property fail: %s', async (_name, file, patch) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.resetModules()
    vi.doMock(`../../../src/runtime/server/core/${file}.ts`, async importOriginal => patch(await importOriginal<Module>()))
    const details = await fc.check(property(await createWorld()), { numRuns: 20_000, interruptAfterTimeLimit: 100_000, endOnFailure: true })
    vi.restoreAllMocks()
    expect(details.failed).toBe(true)
  }, 120_000)
})
