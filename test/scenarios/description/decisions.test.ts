/** Each decision about a caller is part of the description: of links over junction tables, and when callers differ in one decision only. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { AutoApiContext, ResourceAuth, ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { createServer, type Caller } from '../../support/server'
import { CLERK, openMagazine, people, stories, storyTopics, topics, type Magazine } from '../../support/magazine'

const open: Magazine[] = []

afterEach(() => {
  for (const { client } of open.splice(0)) client.close()
})

async function openWith(registrations: readonly object[]): Promise<Magazine> {
  const magazine = await openMagazine({ registrations: registrations as ResourceRegistration[] })
  open.push(magazine)
  return magazine
}

const LINK_METHODS = [['remove', 'DELETE'], ['add', 'POST'], ['replace', 'PUT']] as const

describe('links over a registered junction table', () => {
  const everything = { read: true, create: true, update: true, delete: true } as const

  it.each<[string, ResourceAuth, { add: boolean, remove: boolean, replace: boolean }]>([
    ['whose rows the caller can create and delete', { permissions: everything }, { add: true, remove: true, replace: true }],
    [
      'whose rows the caller cannot create',
      { permissions: { ...everything, create: false } },
      { add: false, remove: true, replace: false },
    ],
    [
      'whose rows the caller cannot delete',
      { permissions: { ...everything, delete: false } },
      { add: true, remove: false, replace: false },
    ],
    [
      'with a key column that the caller cannot write',
      { permissions: everything, fields: { topicId: { write: 'nobody' } } as never },
      { add: false, remove: true, replace: false },
    ],
  ])('%s change as described', async (_, authorization, expected) => {
    const magazine = await openWith([
      { name: 'stories', schema: stories, authorization: { permissions: everything } },
      { name: 'topics', schema: topics, authorization: { permissions: everything } },
      { name: 'storyTopics', schema: storyTopics, authorization },
    ])
    magazine.client.exec('insert into tbl_topics values (2, \'Culture\')')
    expect((await magazine.describe(CLERK)).resources.stories!.relations.topics!.linkable).toEqual(expected)
    for (const [mode, method] of LINK_METHODS) {
      magazine.client.exec('delete from tbl_story_topics; insert into tbl_story_topics values (1, 1)')
      const { status } = await magazine.request(method, '/api/stories/1/relations/topics', {
        caller: CLERK,
        body: { ids: [mode === 'remove' ? 1 : 2] },
      })
      expect([mode, status === 200]).toEqual([mode, expected[mode]])
    }
  })
})

describe('links whose rows belong to a tenant', () => {
  const left = sqliteTable('lefts', { id: integer('id').primaryKey() })
  const right = sqliteTable('rights', { id: integer('id').primaryKey() })
  const pairs = sqliteTable('pairs', {
    leftId: integer('left_id').notNull().references(() => left.id),
    rightId: integer('right_id').notNull().references(() => right.id),
    organizationId: integer('organization_id').notNull(),
  }, table => [primaryKey({ columns: [table.leftId, table.rightId] })])

  it.each<[string, Caller, boolean]>([
    ['with a tenant', { user: { id: 1, organizationId: 1 } }, true],
    ['without a tenant', { user: { id: 1 } }, false],
  ])('change as described for a caller %s', async (_, caller, expected) => {
    const client = new Database(':memory:')
    client.exec(
      'create table lefts (id integer primary key); create table rights (id integer primary key); create table pairs (left_id integer, right_id integer, organization_id integer not null, primary key (left_id, right_id)); insert into lefts values (1); insert into rights values (1)',
    )
    const authorization = { permissions: { read: true, update: true } }
    const { request } = await createServer({
      registrations: [
        { name: 'left', schema: left, authorization },
        { name: 'right', schema: right, authorization },
      ],
      modules: [{ left, right, pairs }],
      db: drizzle({ client }),
      config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    })
    const { right: relation } = (await request('GET', '/api/_schema', { caller })).body.resources.left.relations
    expect(relation).toMatchObject({ includable: true, linkable: { add: expected, remove: expected, replace: expected } })
    for (const [mode, method] of LINK_METHODS)
      expect([mode, (await request(method, '/api/left/1/relations/right', { caller, body: { ids: [1] } })).status === 200]).toEqual([
        mode,
        expected,
      ])
    client.close()
  })
})

describe('callers who differ in one decision', () => {
  const signedIn = (...permissions: string[]): Caller => ({ user: { id: 1, organizationId: 1 }, permissions })
  const registrations = (ofStories: ResourceAuth) => [
    { name: 'stories', schema: stories, authorization: ofStories },
    { name: 'people', schema: people, authorization: { permissions: { read: 'people' } } },
  ]
  const permissions = { read: true, create: true, update: true } as const
  const hidden = { authorId: { read: false }, reviewerId: { read: false } }

  it.each<[string, ResourceAuth, string]>([
    ['a field to read', { permissions, fields: { margin: { read: 'x' } } as never }, 'x'],
    [
      'a field to write in a create',
      {
        permissions,
        fields: { margin: { write: (ctx: AutoApiContext) => ctx.operation !== 'create' || ctx.permissions.includes('x') } } as never,
      },
      'x',
    ],
    [
      'a field to write in an update',
      {
        permissions,
        fields: { margin: { write: (ctx: AutoApiContext) => ctx.operation !== 'update' || ctx.permissions.includes('x') } } as never,
      },
      'x',
    ],
    ['a relation', { permissions }, 'people'],
    ['a reference', { permissions, fields: hidden as never }, 'people'],
    ['an operation', { permissions: { ...permissions, delete: 'x' } }, 'x'],
  ])('have different descriptions: %s', async (_, authorization, permission) => {
    const shared = await openWith(registrations(authorization))
    const own = await openWith(registrations(authorization))
    const without = (await shared.describe(signedIn())).resources.stories
    const together = (await shared.describe(signedIn(permission))).resources.stories
    expect(together).not.toEqual(without)
    expect(together).toEqual((await own.describe(signedIn(permission))).resources.stories)
    expect((await shared.describe(signedIn())).resources.stories).toEqual(without)
  })

  it('have different descriptions: a relation without a foreign key of its own', async () => {
    const { describe } = await openWith([
      { name: 'people', schema: people, authorization: { permissions: { read: true } } },
      { name: 'stories', schema: stories, authorization: { permissions: { read: 'x' } } },
    ])
    expect((await describe(signedIn())).resources.people!.relations).toEqual({})
    expect(Object.keys((await describe(signedIn('x'))).resources.people!.relations)).toContain('storiesByAuthor')
  })
})
