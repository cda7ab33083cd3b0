/** The outline of SQL has the same values as rendering it, and one shape per text. */
import { alias, integer, SQLiteSyncDialect, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { and, eq, exists, gt, inArray, isNull, like, not, or, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { outline } from '../../../src/runtime/server/core/sql/outline'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), status: text('status'), at: integer('at', { mode: 'timestamp' }), title: text('title') })
const users = sqliteTable('users', { id: integer('id').primaryKey(), status: text('status') })
const other = alias(posts, 'other')
const dialect = new SQLiteSyncDialect()
const db = drizzle(new Database(':memory:'))

const CONDITIONS: Record<string, (n: number) => SQL | undefined> = {
  'eq': n => eq(posts.id, n),
  'a date through its column': n => eq(posts.at, new Date(n * 1000)),
  'and, or, not': n => and(or(eq(posts.status, `s${n}`), isNull(posts.status)), not(gt(posts.id, n))),
  'a list': n => inArray(posts.id, [n, n + 1]),
  'another length of list': n => inArray(posts.id, [n, n + 1, n + 2]),
  'raw values': n => sql`${posts.id} = ${n} and ${posts.title} = ${'x'} and ${posts.status} is ${null}`,
  'a question mark in the text': n => sql`${posts.title} = '?' and ${posts.id} = ${n}`,
  'another table with the same columns': n => eq(users.id, n),
  'another column': n => eq(posts.status, String(n)),
  'like': n => like(posts.title, `%${n}%`),
  'a raw text': () => sql.raw('1 = 1'),
  'a table': n => sql`exists (select 1 from ${users} where ${users.id} = ${n})`,
  'text with the separators of rendering': n => sql`${posts.title} = '|#1#|' and ${posts.id} > ${n}`,
}

describe.each(Object.entries(CONDITIONS))('%s', (_, condition) => {
  it('has the same values as its rendering, in the same order', () => {
    expect(outline(condition(3)!)!.values).toEqual(dialect.sqlToQuery(condition(3)!).params)
  })

  it('has one shape per text', () => {
    const own = outline(condition(1)!)!.shape
    for (const [name, different] of Object.entries(CONDITIONS)) {
      const same = dialect.sqlToQuery(different(2)!).sql === dialect.sqlToQuery(condition(1)!).sql
      expect([name, outline(different(2)!)!.shape === own]).toEqual([name, same])
    }
  })
})

describe('SQL that has to be rendered', () => {
  it.each([
    ['a subquery', exists(db.select().from(users))],
    ['an alias', eq(other.id, 1)],
    ['parameters written into the text', sql`${posts.id} = ${1}`.inlineParams()],
    ['a named placeholder', sql`${posts.id} = ${sql.placeholder('id')}`],
    ['a parameter that is itself a placeholder', eq(posts.id, sql.placeholder('id'))],
  ])('%s has no outline', (_, condition) => {
    expect(outline(condition)).toBeUndefined()
  })
})
