/** The relations that Drizzle 1.0 declares: `defineRelations()`, a part of it, and `relations()` of its package `_relations`. */
import { defineRelations, defineRelationsPart } from 'drizzle-orm-1'
import { relations } from 'drizzle-orm-1/_relations'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm-1/sqlite-core'
import { describe, expect, it, vi } from 'vitest'
import { resourcesOf, type Resource } from '../support/tables'

const users = sqliteTable('users', { id: integer().primaryKey(), name: text() })
const posts = sqliteTable('posts', {
  id: integer().primaryKey(),
  title: text(),
  authorId: integer().references(() => users.id),
  editorId: integer().references(() => users.id),
})
const tags = sqliteTable('tags', { id: integer().primaryKey() })
const postTags = sqliteTable('post_tags', {
  postId: integer().references(() => posts.id),
  tagId: integer().references(() => tags.id),
}, t => [primaryKey({ columns: [t.postId, t.tagId] })])
const follows = sqliteTable('follows', {
  followerId: integer().references(() => users.id),
  followedId: integer().references(() => users.id),
}, t => [primaryKey({ columns: [t.followerId, t.followedId] })])

const schema = { users, posts, tags, postTags, follows }

/** The tables of 1.0 have other types than those with which the repository is compiled. */
const registered = (values: Readonly<Record<string, object>>, declared: Readonly<Record<string, unknown>>) =>
  resourcesOf(
    Object.fromEntries(Object.entries(values).map(([name, table]) => [name, { schema: table, relations: declared[name] }])) as never,
    { modules: [schema] },
  )

const described = ({ relations }: Resource) => [...relations.values()].map(({ name, kind, target, columns, foreignColumns }) =>
  `${name}: ${kind} ${target.name}(${columns.map(({ name }) => name)} → ${foreignColumns.map(({ name }) => name)})`)

const whole = defineRelations(schema, r => ({
  posts: {
    writer: r.one.users({ from: r.posts.authorId, to: r.users.id, alias: 'written' }),
    editor: r.one.users({ from: r.posts.editorId, to: r.users.id, alias: 'edited' }),
    labels: r.many.tags({ from: r.posts.id.through(r.postTags.postId), to: r.tags.id.through(r.postTags.tagId) }),
  },
  users: {
    articles: r.many.posts({ alias: 'written' }),
    edits: r.many.posts({ alias: 'edited' }),
    following: r.many.users({
      from: r.users.id.through(r.follows.followerId),
      to: r.users.id.through(r.follows.followedId),
      alias: 'follows',
    }),
    followers: r.many.users({
      from: r.users.id.through(r.follows.followedId),
      to: r.users.id.through(r.follows.followerId),
      alias: 'followed',
    }),
  },
  tags: { labelled: r.many.posts() },
}))

describe('a relation of defineRelations()', () => {
  const resources = registered({ posts, users, tags }, { posts: whole, users: whole, tags: whole })

  it('names both sides, also if only one of them lists the columns', () => {
    expect(described(resources.get('posts')!)).toEqual(
      expect.arrayContaining(['writer: one users(authorId → id)', 'editor: one users(editorId → id)']),
    )
    expect(described(resources.get('users')!)).toEqual(
      expect.arrayContaining(['articles: many posts(id → authorId)', 'edits: many posts(id → editorId)']),
    )
  })

  it('names both directions of a many-to-many relation', () => {
    expect(described(resources.get('posts')!)).toContain('labels: manyToMany tags(id → id)')
    expect(described(resources.get('tags')!)).toEqual(['labelled: manyToMany posts(id → id)'])
  })

  it('names the directions of a junction that joins a table with itself by the columns of the junction', () => {
    const users = resources.get('users')!
    const sourceOf = (name: string) =>
      (users.relations.get(name) as { junction?: { sourceKey: { columns: readonly string[] } } }).junction?.sourceKey.columns
    expect([sourceOf('following'), sourceOf('followers')]).toEqual([['followerId'], ['followedId']])
  })

  it('is read for the table of the registration only', () => {
    expect(described(registered({ tags, posts }, { tags: whole }).get('tags')!)).toEqual(['labelled: manyToMany posts(id → id)'])
  })

  it('can come from a part', () => {
    const part = defineRelationsPart(schema, r => ({ posts: { writer: r.one.users({ from: r.posts.authorId, to: r.users.id }) } }))
    expect(described(registered({ posts, users }, { posts: part, users: part }).get('posts')!)).toContain(
      'writer: one users(authorId → id)',
    )
    expect([...registered({ posts, users }, { users: part }).get('users')!.relations.keys()]).toEqual([
      'postsByAuthor',
      'postsByEditor',
      'usersByFollower',
      'usersByFollowed',
    ])
  })

  it('with a condition is left out, with a warning that names it', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const filtered = defineRelations({ users, posts }, r => ({
      users: { drafts: r.many.posts({ from: r.users.id, to: r.posts.authorId, where: { title: 'draft' } }) },
    }))
    expect([...registered({ users, posts }, { users: filtered }).get('users')!.relations.keys()]).not.toContain('drafts')
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/`users\.relations`: the API leaves out `drafts`, because it has a `where`/)]])
    warn.mockRestore()
  })

  it('to one record over a junction is left out, with a warning that names it', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const single = defineRelations({ posts, tags, postTags }, r => ({
      posts: { mainTag: r.one.tags({ from: r.posts.id.through(r.postTags.postId), to: r.tags.id.through(r.postTags.tagId) }) },
    }))
    expect([...registered({ posts, tags }, { posts: single }).get('posts')!.relations.keys()]).toEqual(['tags'])
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/`mainTag`, because it is a to-one relation over a junction table/)]])
    warn.mockRestore()
  })

  it('over a junction that the API does not know fails at startup', () => {
    const reviews = sqliteTable('reviews', { id: integer().primaryKey(), userId: integer(), postId: integer() })
    const unknown = defineRelations({ users, posts, reviews }, r => ({
      users: { reviewed: r.many.posts({ from: r.users.id.through(r.reviews.userId), to: r.posts.id.through(r.reviews.postId) }) },
    }))
    expect(() => registered({ users, posts }, { users: unknown })).toThrow(
      /`users\.relations`: the API does not know the junction table of `reviewed`.*`m2m\.relations`/,
    )
  })
})

it('a relation of `relations()` in 1.0 is named as in 0.45', () => {
  const ofPosts = relations(posts, ({ one }) => ({
    writer: one(users, { fields: [posts.authorId], references: [users.id], relationName: 'written' }),
  }))
  const ofUsers = relations(users, ({ many }) => ({ articles: many(posts, { relationName: 'written' }) }))
  const resources = registered({ posts, users }, { posts: ofPosts, users: ofUsers })
  expect(described(resources.get('posts')!)).toContain('writer: one users(authorId → id)')
  expect(described(resources.get('users')!)).toContain('articles: many posts(id → authorId)')
})

it('a value of neither function is refused with both names', () => {
  expect(() => registered({ posts }, { posts: { author: users } })).toThrow(
    '`posts.relations` is not a value made by Drizzle\'s relations() or defineRelations()',
  )
})
