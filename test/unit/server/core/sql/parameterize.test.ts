/**
 * Compares the walk over Drizzle's SQL with Drizzle's rendering: the same values, and two keys are equal exactly if the SQL texts are
 * equal.
 */
import { alias, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { and, eq, exists, gt, inArray, isNull, like, not, or, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../../../../src/runtime/server/engines/engine'
import { parameterize, template } from '../../../../../src/runtime/server/core/sql/parameterize'
import { constant, value, where } from '../../../../../src/runtime/server/core/sql/where'
import { DIALECTS } from '../../../../support/dialects'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  status: text('status'),
  at: integer('at', { mode: 'timestamp' }),
  title: text('title'),
})
const users = sqliteTable('users', { id: integer('id').primaryKey(), status: text('status') })
const postsAlias = alias(posts, 'other')
const dialect = DIALECTS.sqlite
const db = drizzle({ client: new Database(':memory:') })

const fixedSql = [sql`${posts.id} > 1`, sql`${posts.id} > 2 and `].map(constant)

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

/** What only Drizzle can render is rendered. */
let rendered = 0
const engine = { render: (condition: SQL) => {
  rendered++
  const { sql: text, params } = dialect.sqlToQuery(condition)
  return { text, values: params }
} } as unknown as Engine

describe.each(Object.entries(CONDITIONS))('%s', (_, condition) => {
  it('has the values of the rendered SQL, in the same order', () => {
    expect(parameterize(engine, condition(3)!).values).toEqual(dialect.sqlToQuery(condition(3)!).params)
  })

  it('has the key of another condition only if the SQL text is the same, and is not rendered', () => {
    rendered = 0
    const { key } = parameterize(engine, condition(1)!)
    for (const [name, other] of Object.entries(CONDITIONS)) {
      const same = dialect.sqlToQuery(other(2)!).sql === dialect.sqlToQuery(condition(1)!).sql
      expect([name, parameterize(engine, other(2)!).key === key]).toEqual([name, same])
    }
    expect(rendered).toBe(0)
  })
})

describe('SQL that only Drizzle can render', () => {
  it.each([
    ['a subquery', exists(db.select().from(users).where(eq(users.id, 7)))],
    ['the table of an alias', sql`select 1 from ${postsAlias} where ${postsAlias.id} = ${7}`],
    ['parameters written into the text', sql`${posts.id} = ${7}`.inlineParams()],
    ['a named placeholder', sql`${posts.id} = ${sql.placeholder('id')}`],
    ['a parameter that is itself a placeholder', eq(posts.id, sql.placeholder('id'))],
  ])('has its text as the key, with the values around it: %s', (_, condition) => {
    rendered = 0
    const { text, values } = engine.render(condition)
    const { key, values: found } = parameterize(engine, where`${value(1)} = 1 and ${condition} and ${value(2)} = 2`)
    expect(rendered).toBe(2)
    expect(key).toContain(text)
    expect(found).toEqual([1, ...values, 2])
  })
})

describe('constant SQL', () => {
  it('refuses SQL with parameters, or that only Drizzle can render', () => {
    expect(() => parameterize(engine, constant(eq(posts.id, 1)))).toThrow('without parameters')
    expect(() => parameterize(engine, constant(exists(db.select().from(users))))).toThrow('Only Drizzle')
  })

  it('is rendered like the SQL it was made of', () => {
    expect(dialect.sqlToQuery(constant(sql`${posts.id} > 1`).getSQL()).sql).toBe('"posts"."id" > 1')
  })
})

describe('a template', () => {
  it('has the text of the SQL around each place of the part, and its values in order', () => {
    const between = template(hole => sql`${posts.id} between ${hole} and (${sql`${hole} + 1`})`)
    expect(dialect.sqlToQuery(between(value(5)).getSQL())).toMatchObject({ sql: '"posts"."id" between ? and (? + 1)', params: [5, 5] })
    expect(parameterize(engine, between(value(5))).values).toEqual([5, 5])
  })

  it('refuses SQL that does not contain the part', () => {
    expect(() => template(() => sql`1 = 1`)).toThrow('does not contain')
  })
})
