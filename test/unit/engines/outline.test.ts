/** Compares `outline` with Drizzle's rendering: both have the same values, and two shapes are equal exactly if the SQL texts are equal. */
import { alias, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { and, eq, exists, gt, inArray, isNull, like, not, or, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { outline, toFixedSql } from '../../../src/runtime/server/core/sql/outline'
import { DIALECTS } from '../../support/dialects'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), status: text('status'), at: integer('at', { mode: 'timestamp' }), title: text('title') })
const users = sqliteTable('users', { id: integer('id').primaryKey(), status: text('status') })
const postsAlias = alias(posts, 'other')
const dialect = DIALECTS.sqlite
const db = drizzle({ client: new Database(':memory:') })

const fixedSql = [sql`${posts.id} > 1`, sql`${posts.id} > 2 and `].map(toFixedSql)

const CONDITIONS: Record<string, (n: number) => SQL | undefined> = {
  'eq': n => eq(posts.id, n),
  'a date through its column': n => eq(posts.at, new Date(n * 1000)),
  'and, or, not': n => and(or(eq(posts.status, `s${n}`), isNull(posts.status)), not(gt(posts.id, n))),
  'a list': n => inArray(posts.id, [n, n + 1]),
  'another length of list': n => inArray(posts.id, [n, n + 1, n + 2]),
  'raw values': n => sql`${posts.id} = ${n} and ${posts.title} = ${'x'} and ${posts.status} is ${null}`,
  'a question mark in the text': n => sql`${posts.title} = '?' and ${posts.id} = ${n}`,
  'another table with the same columns': n => eq(users.id, n),
  'an alias': n => eq(postsAlias.id, n),
  'another alias': n => eq(alias(posts, 'third').id, n),
  'an alias of another table': n => eq(alias(users, 'third').status, String(n)),
  'a date through the column of an alias': n => eq(alias(posts, 'third').at, new Date(n * 1000)),
  'a name': n => sql`exists (select 1 from ${posts} as ${sql.identifier('th"ird')} where ${alias(posts, 'th"ird').id} = ${n})`,
  'another name': n => sql`exists (select 1 from ${posts} as ${sql.identifier('other')} where ${alias(posts, 'th"ird').id} = ${n})`,
  'another column': n => eq(posts.status, String(n)),
  'like': n => like(posts.title, `%${n}%`),
  'a raw text': () => sql.raw('1 = 1'),
  'fixed SQL': n => sql`${fixedSql[0]} and ${posts.title} = ${n}`,
  'other fixed SQL, which needs the rest': n => sql`${fixedSql[1]}${posts.title} = ${n}`,
  'a table': n => sql`exists (select 1 from ${users} where ${users.id} = ${n})`,
  'text that contains the separators of a shape': n => sql`${posts.title} = '|#1#|' and ${posts.id} > ${n}`,
}

describe.each(Object.entries(CONDITIONS))('%s', (_, condition) => {
  it('has the values of the rendered SQL, in the same order', () => {
    expect(outline(condition(3)!)!.values).toEqual(dialect.sqlToQuery(condition(3)!).params)
  })

  it('has the same shape as another condition only if the SQL text is the same', () => {
    const shape = outline(condition(1)!)!.shape
    for (const [name, other] of Object.entries(CONDITIONS)) {
      const same = dialect.sqlToQuery(other(2)!).sql === dialect.sqlToQuery(condition(1)!).sql
      expect([name, outline(other(2)!)!.shape === shape]).toEqual([name, same])
    }
  })
})

describe('SQL that only Drizzle can render', () => {
  it.each([
    ['a subquery', exists(db.select().from(users))],
    ['the table of an alias', sql`select 1 from ${postsAlias}`],
    ['parameters written into the text', sql`${posts.id} = ${1}`.inlineParams()],
    ['a named placeholder', sql`${posts.id} = ${sql.placeholder('id')}`],
    ['a parameter that is itself a placeholder', eq(posts.id, sql.placeholder('id'))],
  ])('returns no outline for %s', (_, condition) => {
    expect(outline(condition)).toBeUndefined()
  })
})

describe('fixed SQL', () => {
  it('refuses SQL with parameters, or that only Drizzle can render', () => {
    for (const condition of [eq(posts.id, 1), exists(db.select().from(users))]) expect(() => toFixedSql(condition)).toThrow('parameters')
  })
})
