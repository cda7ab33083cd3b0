/** Relations and their names: derived from foreign keys unless Drizzle's `relations()` declares them. A conflict fails at startup. */
import { relations } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { DIALECTS, resourcesOf, sqlite, type Resource } from '../../../support/tables'

/** `name: kind target(columns → foreign columns)` of every relation. */
function describeRelations(resource: Resource): string[] {
  return [...resource.relations.values()].map(({ name, kind, target, columns, foreignColumns }) =>
    `${name}: ${kind} ${target.name}(${columns.map(field => field.name)} → ${foreignColumns.map(field => field.name)})`)
}

const names = (resource: Resource) => [...resource.relations.keys()]

describe.each(DIALECTS)('a relation of $dialect-core tables', ({ tables }) => {
  const {
    organizations,
    users,
    posts,
    comments,
    messages,
    employees,
    tags,
    postTags,
    topicTags,
    bookmarks,
    reviews,
    follows,
    seats,
    bookings,
  } = tables
  const all = resourcesOf({ organizations, users, posts, comments, messages, employees, seats, bookings })

  it('to one is named after its key column without Id or _id', () => {
    expect(describeRelations(all.get('posts')!)).toContain('author: one users(authorId → id)')
    expect(describeRelations(all.get('comments')!)).toContain('post: one posts(post_id → id)')
  })

  it('to one is named <column>Record when the derived name is the name of a column', () => {
    expect(describeRelations(all.get('employees')!)).toContain('reportsToRecord: one employees(reportsTo → code)')
  })

  it('to one over a composite key is named after the key\'s last column', () => {
    expect(describeRelations(all.get('bookings')!)).toEqual(['seat: one seats(room,seatId → room,number)'])
  })

  it('to many is named after the child resource', () => {
    expect(describeRelations(all.get('posts')!)).toContain('comments: many comments(id → post_id)')
    expect(describeRelations(all.get('employees')!)).toContain('employees: many employees(code → reportsTo)')
    expect(describeRelations(all.get('seats')!)).toEqual(['bookings: many bookings(room,number → room,seatId)'])
  })

  it('to many is named <resource>By<Key> when two keys reference the same table', () => {
    expect(describeRelations(all.get('users')!)).toEqual([
      'organization: one organizations(organizationId → id)',
      'posts: many posts(id → authorId)',
      'messagesBySender: many messages(id → senderId)',
      'messagesByRecipient: many messages(id → recipientId)',
    ])
    expect(names(all.get('messages')!)).toEqual(['sender', 'recipient'])
  })

  it('exists between registered tables only', () => {
    expect(names(resourcesOf({ posts, comments }).get('posts')!)).toEqual(['comments'])
  })

  it('uses the name of the resource, not of the table', () => {
    expect(names(resourcesOf({ articles: posts, remarks: comments }).get('articles')!)).toEqual(['remarks'])
  })

  it('many to many is named after the other resource', () => {
    const resources = resourcesOf({ posts, tags }, { modules: [{ postTags }] })
    expect(describeRelations(resources.get('posts')!)).toEqual(['tags: manyToMany tags(id → slug)'])
    expect(describeRelations(resources.get('tags')!)).toEqual(['posts: manyToMany posts(slug → id)'])
    const relation = resources.get('posts')!.relations.get('tags')
    expect(relation).toMatchObject({
      junction: { name: 'postTags', sourceKey: { columns: ['postId'] }, targetKey: { columns: ['tagSlug'] } },
    })
  })

  it('many to many is named after the junction when two junctions join the same resources', () => {
    const resources = resourcesOf({ posts, tags }, { modules: [{ postTags, topicTags }] })
    expect(names(resources.get('posts')!)).toEqual(['postTags', 'topicTags'])
    expect(names(resources.get('tags')!)).toEqual(['postTags', 'topicTags'])
  })

  it('many to many is named <other>By<Junction> when the junction\'s name is taken', () => {
    const resources = resourcesOf({ posts, tags, postTags, topicTags })
    expect(names(resources.get('posts')!)).toEqual(['postTags', 'topicTags', 'tagsByPostTags', 'tagsByTopicTags'])
  })

  it('many to many is named <other>By<Junction> when the other resource\'s name is taken', () => {
    const resources = resourcesOf({ users, posts }, { modules: [{ bookmarks }] })
    expect(names(resources.get('users')!)).toEqual(['posts', 'postsByBookmarks'])
    expect(names(resources.get('posts')!)).toEqual(['author', 'users'])
  })

  it('many to many exists in addition to the to-many relation of a registered junction', () => {
    const resources = resourcesOf({ posts, tags, postTags })
    expect(names(resources.get('posts')!)).toEqual(['postTags', 'tags'])
    expect(names(resources.get('postTags')!)).toEqual(['post', 'tagSlugRecord'])
  })

  it('of a table with itself over a junction is named after the key on this side, once per direction', () => {
    expect(describeRelations(resourcesOf({ users }, { modules: [{ follows }] }).get('users')!)).toEqual([
      'usersByFollower: manyToMany users(id → id)',
      'usersByFollowed: manyToMany users(id → id)',
    ])
  })

  it('many to many requires a table that is only a junction', () => {
    // Registered, its key is its own: a resource like any other.
    expect(names(resourcesOf({ users, posts, bookmarks }).get('users')!)).toEqual(['posts', 'bookmarks'])
    // One more required column: linking could not fill it.
    expect(names(resourcesOf({ users, tags }, { modules: [{ reviews }] }).get('users')!)).toEqual([])
  })
})

describe('a name of Drizzle\'s relations()', () => {
  const { users, posts, messages, organizations } = sqlite
  const postsRelations = relations(posts, ({ one }) => ({
    writer: one(users, { fields: [posts.authorId], references: [users.id] }),
  }))
  const usersRelations = relations(users, ({ many }) => ({ articles: many(posts) }))

  it('replaces the derived name on the side that declares it', () => {
    const resources = resourcesOf({
      posts: { schema: posts, relations: postsRelations },
      users: { schema: users, relations: usersRelations },
    })
    expect(describeRelations(resources.get('posts')!)).toEqual(['writer: one users(authorId → id)'])
    expect(describeRelations(resources.get('users')!)).toEqual(['articles: many posts(id → authorId)'])
  })

  it('does not change the other derived names', () => {
    const resources = resourcesOf({ posts: { schema: posts, relations: postsRelations }, users, messages })
    expect(names(resources.get('users')!)).toEqual(['posts', 'messagesBySender', 'messagesByRecipient'])
  })

  it('distinguishes two keys to the same table by relationName', () => {
    const messagesRelations = relations(messages, ({ one }) => ({
      from: one(users, { fields: [messages.senderId], references: [users.id], relationName: 'sent' }),
      to: one(users, { fields: [messages.recipientId], references: [users.id], relationName: 'received' }),
    }))
    const sides = relations(users, ({ many }) => ({
      outbox: many(messages, { relationName: 'sent' }),
      inbox: many(messages, { relationName: 'received' }),
    }))
    const resources = resourcesOf({
      messages: { schema: messages, relations: messagesRelations },
      users: { schema: users, relations: sides },
    })
    expect(describeRelations(resources.get('users')!)).toEqual([
      'outbox: many messages(id → senderId)',
      'inbox: many messages(id → recipientId)',
    ])
    expect(names(resources.get('messages')!)).toEqual(['from', 'to'])
  })

  it('can join columns without a foreign key', () => {
    const joined = relations(posts, ({ one }) => ({
      publisher: one(organizations, { fields: [posts.organizationId], references: [organizations.id] }),
    }))
    const resources = resourcesOf({ posts: { schema: posts, relations: joined }, organizations })
    expect(describeRelations(resources.get('posts')!)).toEqual(['publisher: one organizations(organizationId → id)'])
  })

  it('is read only from a value that relations() returns', () => {
    expect(() => resourcesOf({ posts: { schema: posts, relations: { author: users } } })).toThrow(
      '`posts.relations` is not a value made by Drizzle\'s relations()',
    )
  })

  it('fails at startup when it is the name of a column', () => {
    const clash = relations(posts, ({ one }) => ({ title: one(users, { fields: [posts.authorId], references: [users.id] }) }))
    expect(() => resourcesOf({ posts: { schema: posts, relations: clash }, users })).toThrow(/`posts`.*`title`/)
  })
})

describe('a relation name that is taken', () => {
  const authors = sqliteTable('authors', { id: integer().primaryKey(), books: integer() })
  const books = sqliteTable('books', {
    id: integer().primaryKey(),
    authorId: integer().references(() => authors.id),
    author_id: integer().references(() => authors.id),
  })

  it('by a column fails at startup, with a message about how to name the relation', () => {
    const one = sqliteTable('books', { id: integer().primaryKey(), authorId: integer().references(() => authors.id) })
    expect(() => resourcesOf({ authors, books: one })).toThrow(
      /`authors`.*a relation and a column.*`books`.*relations\(\).*`authors\.relations`/,
    )
  })

  it('by another relation fails at startup', () => {
    expect(() => resourcesOf({ books, authors })).toThrow(/`books`: two relations.*`author`/)
  })

  it('can be resolved with Drizzle\'s relations()', () => {
    const one = sqliteTable('books', { id: integer().primaryKey(), authorId: integer().references(() => authors.id) })
    const named = relations(authors, ({ many }) => ({ works: many(one) }))
    const resources = resourcesOf({ authors: { schema: authors, relations: named }, books: one })
    expect(names(resources.get('authors')!)).toEqual(['works'])
  })

  it('by a column makes a many-to-many relation use its second name', () => {
    const shelves = sqliteTable('shelves', { id: integer().primaryKey(), novels: text() })
    const novels = sqliteTable('novels', { id: integer().primaryKey() })
    const shelfNovels = sqliteTable('shelf_novels', {
      shelfId: integer().notNull().references(() => shelves.id),
      novelId: integer().notNull().references(() => novels.id),
    }, t => [primaryKey({ columns: [t.shelfId, t.novelId] })])
    const resources = resourcesOf({ shelves, novels }, { modules: [{ shelfNovels }] })
    expect(names(resources.get('shelves')!)).toEqual(['novelsByShelfNovels'])
    expect(names(resources.get('novels')!)).toEqual(['shelves'])
  })
})
