/** Queries whose plan SQLite keeps have the same plan, and the same rows, as without the change of their text. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepPlan, type ReadSchema } from '../../../../src/runtime/server/engines/prepared-plan'
import { createSynchronousEngine } from '../../../../src/runtime/server/engines/synchronous'
import { createRandom } from '../../../../bench/random'

let client: Database.Database
const read: ReadSchema = text => client.prepare<[], unknown[]>(text).raw().all()

const QUERY = `select "id" from "posts" where "status" = ? limit ?`
const KEPT = `select "id" from "posts" where "status" = likely(?) limit likely(?)`

beforeEach(() => {
  client = new Database(':memory:')
  client.exec(
    'create table posts (id integer primary key, status text, author integer, views integer, featured integer, deleted_at integer)',
  )
  client.exec('create table users (id integer primary key, name text)')
})
afterEach(() => client.close())

describe('the text of a query', () => {
  it('has its parameters in `likely()`', () => {
    expect(keepPlan(QUERY, read)).toBe(KEPT)
  })

  it('keeps question marks in text, names and comments', () => {
    const text = `select '?', "a?" /* ? */ from posts where id = ?`
    expect(keepPlan(text, read)).toBe(text.replace(/\?$/, 'likely(?)'))
  })

  it.each(['like', 'LIKE', 'glob', 'match', 'regexp'])('keeps the pattern of `%s`', (operator) => {
    const text = `select id from posts where status ${operator} ?`
    expect(keepPlan(text, read)).toBe(text)
  })

  it.each([
    'create index a on posts (status)',
    'create unique index a on "posts" ("status", "id" desc)',
    'create index a on posts (status) where deleted_at is null',
    'create index a on posts (status) WHERE "deleted_at" IS NOT NULL',
    `create index a on users (id) where name = 'Ada'`,
    'drop table posts; create table posts (id text primary key, status text, author integer, unique (status, author))',
  ])('changes with `%s`', (index) => {
    client.exec(index)
    expect(keepPlan(QUERY, read)).toBe(KEPT)
  })

  it.each([
    `create index a on posts (id) where status = 'open'`,
    'create index a on posts (id) where featured',
    'create index a on posts (lower(status))',
    'create index a on posts (status) where deleted_at is null and views > 5',
    'create index a on posts (status); analyze',
    `attach ':memory:' as other`,
  ])('stays the same with `%s`, because a value can change the plan', (statements) => {
    client.exec(`insert into posts values (1, 'open', 1, 1, 1, null), (2, 'closed', 1, 1, 1, null)`)
    client.exec(statements)
    expect(keepPlan(QUERY, read)).toBe(QUERY)
  })

  it('stays the same for a view and for a virtual table', () => {
    client.exec('create view open_posts as select * from posts; create virtual table words using fts5(word)')
    for (const name of ['open_posts', 'words']) {
      const text = `select * from ${name} where id = ?`
      expect(keepPlan(text, read)).toBe(text)
    }
  })
})

describe('the engine', () => {
  it('returns the same rows for values of every type', async () => {
    client.exec(`insert into posts values (1, '5', 1, 5, 1, null), (2, 'x', 2, 9, 0, 7)`)
    const engine = createSynchronousEngine('better-sqlite3', drizzle({ client }))
    for (const [column, value] of [['status', '5'], ['status', 5], ['views', '5'], ['views', 5], ['id', 1], ['author', 1n]] as const) {
      const text = `select id from posts where ${column} = ? limit ?`
      expect(await engine.query({ text, values: [value, 10] }), `${column} = ${typeof value}`).toEqual(
        client.prepare(text).raw().all(value, 10),
      )
    }
  })
})

/** SQLite's estimates without statistics are the same for every value. */
it('has the plan of the query with its values, for random indexes and conditions', () => {
  const { below, pick } = createRandom(11)
  const columns = ['status', 'author', 'views', 'featured']
  for (let schema = 0; schema < 60; schema++) {
    const indexes = Array.from({ length: below(4) }, (_, index) => `i${index}`)
    for (const name of indexes) {
      const indexed = new Set(Array.from({ length: 1 + below(3) }, () => pick(columns)))
      client.exec(`create index ${name} on posts (${[...indexed].join()})`)
    }
    for (let query = 0; query < 30; query++) {
      const conditions = Array.from({ length: below(4) }, () =>
        pick([`${pick(columns)} = ?`, `${pick(columns)} > ?`, `${pick(columns)} in (?, 3)`, `(${pick(columns)} = ? or author = 4)`]))
      const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
      const text = `select * from posts${where} order by ${pick(columns)} ${pick(['asc', 'desc'])}, id ${pick(['asc', 'desc'])} limit ?`
      const values = [...conditions.map(() => pick<unknown>([0, 1, -1, 7, 'open'])), pick([2, 21, 101])]
      const planOf = (text: string) =>
        client
          .prepare<unknown[], unknown[]>(`explain query plan ${text}`)
          .raw()
          .all(...values)
          .map(row => row[3])
      expect(planOf(keepPlan(text, read)), text).toEqual(planOf(text))
    }
    for (const name of indexes) client.exec(`drop index ${name}`)
  }
})
