/** The relation routes of both sides enforce the rules of a junction. */
import { foreignKey, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { OPEN, serveTables, type TablesServer } from '../../support/tables-server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey() })
const tags = sqliteTable('tags', { id: integer('id').primaryKey() })
const users = sqliteTable('users', { id: integer('id').primaryKey(), organizationId: integer('organization_id') })
const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
  addedById: integer('added_by_id').references(() => users.id),
  locked: integer('locked'),
  organizationId: integer('organization_id'),
  deletedAt: integer('deleted_at'),
}, t => [primaryKey({ columns: [t.postId, t.tagId] })])

const DDL = `
  create table posts (id integer primary key);
  create table tags (id integer primary key);
  create table users (id integer primary key, organization_id integer);
  create table post_tags (post_id integer, tag_id integer, added_by_id integer references users(id), locked integer, organization_id integer, deleted_at integer, primary key (post_id, tag_id));
  insert into posts values (1);
  insert into tags values (1), (2), (3), (4), (5);
  insert into users values (1, 1), (2, 2);
  insert into post_tags values (1, 1, null, 1, 1, null), (1, 2, null, 0, 1, null), (1, 3, null, 0, 2, 5), (1, 5, null, 0, 1, 5);
`

const caller = { user: { id: 1, organizationId: 1 } }
const authorization = { permissions: OPEN }
const path = '/api/posts/1/relations/tags'

let target: TablesServer

beforeEach(async () => {
  target = await serveTables(DDL, [{ posts, tags, users, postTags }], {
    posts: { schema: posts, authorization },
    tags: { schema: tags, authorization },
    users: { schema: users, authorization },
    postTags: { schema: postTags, authorization: { permissions: OPEN, objectLevel: row => !row.locked } },
  }, { multiTenancy: DEFAULT_MULTI_TENANCY, m2m: { autoDetect: true, relations: { postTags: ['posts', 'tags'] } } })
})

describe('the links of a registered junction', () => {
  it('cannot be removed when the junction\'s rules hide them', async () => {
    const before = target.rows('post_tags')
    expect((await target.request('DELETE', path, { caller, body: { ids: [1] } })).body).toEqual({ added: 0, removed: 0, total: 1 })
    expect(target.rows('post_tags')).toEqual(before)
    expect((await target.request('DELETE', path, { caller, body: { ids: [2] } })).body).toEqual({ added: 0, removed: 1, total: 0 })
  })

  it('are restored only for callers who could see them outside of the trash', async () => {
    const before = target.rows('post_tags')
    expect((await target.request('POST', path, { caller, body: { ids: [3] } })).body.added).toBe(0)
    expect(target.rows('post_tags')).toEqual(before)
    expect((await target.request('POST', path, { caller, body: { ids: [5] } })).body.added).toBe(1)
    expect(target.rows('post_tags')).toContainEqual([1, 5, null, null, 1, null])
  })

  it.each([['invisible', 2], ['missing', 9]])('cannot reference in their metadata a record that is %s', async (_reason, addedById) => {
    const { status, body } = await target.request('POST', path, { caller, body: { ids: [4], metadata: { addedById } } })
    expect([status, body.data]).toEqual([400, { code: 'INVALID_REFERENCE', field: 'addedById' }])
    expect(target.rows('post_tags')).toHaveLength(4)
  })

  it('can reference in their metadata records that the caller can see', async () => {
    expect((await target.request('POST', path, { caller, body: { ids: [4], metadata: { addedById: 1 } } })).body.added).toBe(1)
    expect(target.rows('post_tags')).toContainEqual([1, 4, 1, null, 1, null])
  })
})

describe('two junctions of one export name', () => {
  const groups = sqliteTable('groups', { id: integer('id').primaryKey() })
  const inPosts = sqliteTable(
    'post_members',
    { userId: integer('user_id').references(() => users.id), postId: integer('post_id').references(() => posts.id) },
    t => [primaryKey({ columns: [t.userId, t.postId] })],
  )
  const inGroups = sqliteTable(
    'group_members',
    { userId: integer('user_id').references(() => users.id), groupId: integer('group_id').references(() => groups.id) },
    t => [primaryKey({ columns: [t.userId, t.groupId] })],
  )

  it('are written in their own tables', async () => {
    const server = await serveTables(`
      create table posts (id integer primary key);
      create table users (id integer primary key, organization_id integer);
      create table groups (id integer primary key);
      create table post_members (user_id integer, post_id integer, primary key (user_id, post_id));
      create table group_members (user_id integer, group_id integer, primary key (user_id, group_id));
      insert into users (id) values (1); insert into posts values (1); insert into groups values (1);
    `, [{ posts, users, groups, members: inPosts }, { members: inGroups }], {
      posts: { schema: posts, authorization }, users: { schema: users, authorization }, groups: { schema: groups, authorization },
    })
    expect((await server.request('POST', '/api/users/1/relations/posts', { body: { ids: [1] } })).body.added).toBe(1)
    expect((await server.request('POST', '/api/users/1/relations/groups', { body: { ids: [1] } })).body.added).toBe(1)
    expect([server.rows('post_members'), server.rows('group_members')]).toEqual([[[1, 1]], [[1, 1]]])
  })
})

describe('two records linked twice', () => {
  const students = sqliteTable('students', { id: integer('id').primaryKey() })
  const courses = sqliteTable('courses', { id: integer('id').primaryKey() })
  const terms = sqliteTable('terms', {
    id: integer('id').primaryKey(),
    studentId: integer('student_id').references(() => students.id),
    courseId: integer('course_id').references(() => courses.id),
    grade: text('grade'),
    sealed: integer('sealed'),
  })

  it('show and remove only visible links', async () => {
    const server = await serveTables(
      `
      create table students (id integer primary key);
      create table courses (id integer primary key);
      create table terms (id integer primary key, student_id integer, course_id integer, grade text, sealed integer);
      insert into students values (1); insert into courses values (1); insert into terms values (1, 1, 1, 'open', 0), (2, 1, 1, 'secret', 1);
    `,
      [{ students, courses, terms }],
      {
        students: { schema: students, authorization },
        courses: { schema: courses, authorization },
        terms: { schema: terms, authorization: { permissions: OPEN, objectLevel: row => !row.sealed } },
      },
      { m2m: { autoDetect: true, relations: { terms: ['students', 'courses'] } } },
    )
    const { body } = await server.request('GET', '/api/students/1/relations/courses?includeMetadata=true')
    expect(body.data).toEqual([{ id: 1, _junction: { id: 1, grade: 'open', sealed: 0 } }])
    expect((await server.request('DELETE', '/api/students/1/relations/courses', { body: { ids: [1] } })).body.removed).toBe(1)
    expect(server.rows('terms')).toEqual([[2, 1, 1, 'secret', 1]])
  })
})

describe('one column that references two tables', () => {
  const folders = sqliteTable('folders', { id: integer('id').primaryKey(), deletedAt: integer('deleted_at') })
  const files = sqliteTable('files', { id: integer('id').primaryKey(), folderId: integer('folder_id').references(() => folders.id) })
  const pins = sqliteTable('pins', { id: integer('id').primaryKey(), subjectId: integer('subject_id') }, t => [
    foreignKey({ columns: [t.subjectId], foreignColumns: [folders.id] }).onDelete('restrict'),
    foreignKey({ columns: [t.subjectId], foreignColumns: [files.id] }).onDelete('restrict'),
  ])

  it('restricts the deletion in both tables', async () => {
    const server = await serveTables(`
      create table folders (id integer primary key, deleted_at integer);
      create table files (id integer primary key, folder_id integer);
      create table pins (id integer primary key, subject_id integer);
      insert into folders values (1, null), (2, null), (3, null); insert into files values (7, 1); insert into pins values (1, 7), (2, 2);
    `, [{ folders, files, pins }], { folders: { schema: folders, authorization } })
    const statuses = []
    for (const id of [1, 2, 3]) statuses.push((await server.request('DELETE', `/api/folders/${id}`)).status)
    expect(statuses).toEqual([409, 409, 200])
  })
})
