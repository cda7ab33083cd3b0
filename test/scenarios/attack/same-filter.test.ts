/** Two callers with the same row filter, one on the links and one on the records, do not share a statement. */
import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import { OPEN, serveTables } from '../../support/tables-server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey() })
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), level: text('level') })
const postTags = sqliteTable(
  'post_tags',
  {
    postId: integer('post_id')
      .notNull()
      .references(() => posts.id),
    tagId: integer('tag_id')
      .notNull()
      .references(() => tags.id),
    level: text('level'),
  },
  t => [primaryKey({ columns: [t.postId, t.tagId] })],
)

/** Three of four links are public, and one of four tags is. */
const DDL = `
  create table posts (id integer primary key);
  create table tags (id integer primary key, level text);
  create table post_tags (post_id integer, tag_id integer, level text, primary key (post_id, tag_id));
  insert into posts values (1);
  insert into tags values (1, 'public'), (2, 'own'), (3, 'own'), (4, 'own');
  insert into post_tags values (1, 1, 'public'), (1, 2, 'public'), (1, 3, 'public'), (1, 4, 'own');
`

const onlyPublicFor = (role: string) => ({
  permissions: OPEN,
  listFilter: (_: unknown, ctx: { user: { role: string } | null }) => ctx.user?.role === role ? sql`level = 'public'` : undefined,
}) as unknown as ResourceAuth

it('the total after a change of links counts the links that the caller can see, regardless of the previous caller', async () => {
  const target = await serveTables(DDL, [{ posts, tags, postTags }], {
    posts: { schema: posts, authorization: { permissions: OPEN } },
    tags: { schema: tags, authorization: onlyPublicFor('reader of tags') },
    postTags: { schema: postTags, authorization: onlyPublicFor('reader of links') },
  })
  const totalFor = async (role: string) =>
    (await target.request('DELETE', '/api/posts/1/relations/tags', { caller: { user: { id: 1, role } }, body: { ids: [] } })).body?.total
  expect([await totalFor('reader of links'), await totalFor('reader of tags')]).toEqual([3, 1])
})
