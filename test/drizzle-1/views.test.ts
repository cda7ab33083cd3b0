/** Views of Drizzle 1.0: the types of their columns, and the relations that `defineRelations()` declares to and from them. */
import { count, defineRelations, eq, sql } from 'drizzle-orm-1'
import { alias, integer, sqliteTable, sqliteView, text } from 'drizzle-orm-1/sqlite-core'
import { expect, it } from 'vitest'
import type { View } from 'drizzle-orm'
import { toTable } from '../../src/runtime/server/schema/drizzle/view'
import { DIALECTS } from '../support/dialects'
import { resourcesOf, type Resource } from '../support/tables'

const users = sqliteTable('users', { id: integer().primaryKey(), name: text().notNull() })
const posts = sqliteTable('posts', { id: integer().primaryKey(), userId: integer().notNull(), at: integer({ mode: 'timestamp_ms' }) })
const stats = sqliteView('stats').as(qb => qb.select({
  userId: users.id,
  author: users.name.as('author_name'),
  posts: count(posts.id).as('post_count'),
  latest: sql`max(${posts.at})`.mapWith(posts.at).as('latest'),
  busy: sql`count(*) > 3`.mapWith(Boolean).as('busy'),
}).from(users).leftJoin(posts, eq(posts.userId, users.id)).groupBy(users.id))
const declared = sqliteView('declared', { day: text().notNull(), total: integer() }).existing()

const declaredRelations = defineRelations({ users, posts, stats }, r => ({
  users: { statistics: r.one.stats({ from: r.users.id, to: r.stats.userId }) },
  stats: {
    owner: r.one.users({ from: r.stats.userId, to: r.users.id }),
    entries: r.many.posts({ from: r.stats.userId, to: r.posts.userId }),
  },
}))

const registered = (options: object) => resourcesOf(options as never, { modules: [{ users, posts, stats }] })
const fieldsOf = ({ fields }: Resource) =>
  Object.fromEntries([...fields.values()].map(({ name, kind, nullable, column }) => [name, `${column.name}: ${kind}${nullable ? ' or null' : ''}`]))

it('has the columns and the expressions that it selects or declares', () => {
  const resources = registered({ stats: { schema: stats, key: 'userId' }, declared: { schema: declared, key: 'day' } })
  expect(fieldsOf(resources.get('stats')!)).toEqual({
    userId: 'id: integer', author: 'author_name: text or null', posts: 'post_count: number or null', latest: 'latest: date or null',
    busy: 'busy: boolean or null',
  })
  expect(fieldsOf(resources.get('declared')!)).toEqual({ day: 'day: text', total: 'total: integer or null' })
})

it('has the relations of defineRelations(), to it and from it', () => {
  const resources = registered({
    users: { schema: users, relations: declaredRelations },
    posts: { schema: posts, relations: declaredRelations },
    stats: { schema: stats, key: 'userId', relations: declaredRelations },
  })
  const described = (name: string) => [...resources.get(name)!.relations.values()].map(({ name, kind, target, columns, foreignColumns }) =>
    `${name}: ${kind} ${target.name}(${columns.map(({ name }) => name)} → ${foreignColumns.map(({ name }) => name)})`)
  expect(described('users')).toEqual(['statistics: one stats(id → userId)'])
  expect(described('stats')).toEqual(['owner: one users(userId → id)', 'entries: many posts(userId → userId)'])
})

it('has the name of the view or of its alias before its columns in SQL', () => {
  const textOf = (source: object) => {
    const { userId, author, posts } = toTable(source as unknown as View) as unknown as Record<string, never>
    return DIALECTS.sqlite.sqlToQuery(sql`${userId} ${author} ${posts}` as never).sql
  }
  expect(textOf(stats)).toBe('"stats"."id" "stats"."author_name" "stats"."post_count"')
  expect(textOf(alias(stats, 'other'))).toBe('"other"."id" "other"."author_name" "other"."post_count"')
})
