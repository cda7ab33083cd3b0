/** The other side of a relation: its own permissions apply, and callers with similar queries do not share statements. */
import { foreignKey, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { OPEN, serveTables } from '../../support/tables-server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), organizationId: integer('organization_id') })
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id),
  pay: integer('pay'),
  deletedAt: integer('deleted_at'),
})
const POSTS = 'create table posts (id integer primary key, organization_id integer); insert into posts values (1, 1);'
const COMMENTS
  = 'create table comments (id integer primary key, post_id integer, pay integer, deleted_at integer); insert into comments values (1, 1, 3, null), (2, 1, 5, 1);'

describe('related records', () => {
  const open = (permissions: object) => serveTables(POSTS + COMMENTS, [{ posts, comments }], {
    posts: { schema: posts, authorization: { permissions: OPEN } },
    comments: { schema: comments, authorization: { permissions: { read: true, ...permissions } } },
  })

  it.each(['includeDeleted=true', 'onlyDeleted=true', 'aggregate=sum(pay)'])(
    'are refused with %s when their own resource refuses it',
    async (query) => {
      const refusing = await open({ viewDeleted: false, aggregate: false })
      expect((await refusing.request('GET', `/api/posts/1/relations/comments?${query}`)).status).toBe(401)
      expect((await refusing.request('GET', `/api/posts/1/relations/comments?${query}`, { caller: { user: { id: 1 } } })).status).toBe(403)
      const allowing = await open({ viewDeleted: true, aggregate: true })
      expect((await allowing.request('GET', `/api/posts/1/relations/comments?${query}`)).status).toBe(200)
    },
  )
})

describe('included records', () => {
  const tags = sqliteTable('tags', { id: integer('id').primaryKey(), organizationId: integer('organization_id') })
  const postTags = sqliteTable(
    'post_tags',
    {
      postId: integer('post_id').references(() => posts.id),
      tagId: integer('tag_id').references(() => tags.id),
      organizationId: integer('organization_id'),
    },
    t => [primaryKey({ columns: [t.postId, t.tagId] })],
  )

  it('are filtered by the caller\'s own scope after staff has sent a similar query', async () => {
    const authorization = { permissions: OPEN }
    const target = await serveTables(`${POSTS}
      create table tags (id integer primary key, organization_id integer);
      create table post_tags (post_id integer, tag_id integer, organization_id integer, primary key (post_id, tag_id));
      insert into tags values (1, 1), (2, 1);
      insert into post_tags values (1, 1, 1), (1, 2, 2);
    `, [{ posts, tags, postTags }], {
      posts: { schema: posts, authorization }, tags: { schema: tags, authorization }, postTags: { schema: postTags, authorization },
    }, { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['tags'] } })
    const { addContextExtender } = await import('../../../src/runtime/server/utils/registrars')
    addContextExtender((ctx) => {
      if (ctx.user?.staff) ctx.tenant = { id: 1, canAccessAllTenants: true }
    })
    const ids = async (include: string, user: Record<string, unknown>) => {
      const { body } = await target.request('GET', `/api/posts/1?include=${encodeURIComponent(include)}`, { caller: { user } })
      return body.tags.map(({ id }: { id: number }) => id)
    }
    expect(await ids('{"tags":{"filter":{"organizationId":1}}}', { id: 9, staff: true })).toEqual([1, 2])
    expect(await ids('tags', { id: 1, organizationId: 1 })).toEqual([1])
  })
})

describe('a composite reference', () => {
  const owners = sqliteTable(
    'owners',
    { region: text('region').notNull(), id: integer('id').notNull(), organizationId: integer('organization_id') },
    t => [primaryKey({ columns: [t.region, t.id] })],
  )
  const cars = sqliteTable(
    'cars',
    { id: integer('id').primaryKey(), region: text('region').notNull().default('eu'), ownerId: integer('owner_id') },
    t => [foreignKey({ columns: [t.region, t.ownerId], foreignColumns: [owners.region, owners.id] })],
  )

  it('is checked when a part of it has its default value', async () => {
    const target = await serveTables(
      `
      create table owners (region text, id integer, organization_id integer, primary key (region, id));
      create table cars (id integer primary key, region text not null default 'eu', owner_id integer);
      insert into owners values ('eu', 1, 1), ('eu', 2, 2);
    `,
      [{ owners, cars }],
      { owners: { schema: owners, authorization: { permissions: OPEN } }, cars: { schema: cars, authorization: { permissions: OPEN } } },
      { multiTenancy: DEFAULT_MULTI_TENANCY },
    )
    const create = async (ownerId: number) =>
      (await target.request('POST', '/api/cars', { body: { ownerId }, caller: { tenantId: 1 } })).status
    expect([await create(2), await create(9), await create(1)]).toEqual([400, 400, 201])
    expect(target.rows('cars')).toEqual([[1, 'eu', 1]])
  })
})
