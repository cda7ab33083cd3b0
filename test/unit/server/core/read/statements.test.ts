/** The whole statements of a read in each dialect, rendered without a database, beside what they were written down to be. */
import {
  integer as pgInteger,
  numeric as pgNumeric,
  PgDialect,
  pgTable,
  primaryKey as pgPrimaryKey,
  text as pgText,
} from 'drizzle-orm/pg-core'
import { decimal, int, MySqlDialect, mysqlTable, primaryKey as mysqlPrimaryKey, varchar } from 'drizzle-orm/mysql-core'
import { integer, numeric, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { SQL, Table } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createApi } from '../../../../../src/runtime/server/api/create'
import type { ApiRequest } from '../../../../../src/runtime/server/core/request/api-request'
import { createSystemCall } from '../../../../../src/runtime/server/core/request/call'
import type { Call } from '../../../../../src/runtime/server/core/request/session'
import { executeGroups } from '../../../../../src/runtime/server/core/read/aggregate/groups'
import { executeList } from '../../../../../src/runtime/server/core/read/list'
import { parseGroups } from '../../../../../src/runtime/server/core/parse/aggregate'
import { parseList } from '../../../../../src/runtime/server/core/parse/list'
import { planGroups } from '../../../../../src/runtime/server/core/plan/aggregate'
import { planList } from '../../../../../src/runtime/server/core/plan/read'
import { applyScope } from '../../../../../src/runtime/server/core/access/row-scope'
import { DIALECTS as ADAPTERS } from '../../../../../src/runtime/server/engines/dialects/index'
import type { Engine, Row, Statement } from '../../../../../src/runtime/server/engines/engine'
import { DIALECTS as RENDERERS } from '../../../../support/dialects'

function sqliteTables() {
  const books = sqliteTable('books', { id: integer('id').primaryKey(), name: text('name').notNull(), price: numeric('price') })
  const pages = sqliteTable('pages', {
    id: integer('id').primaryKey(),
    bookId: integer('book_id').references(() => books.id),
    body: text('body'),
  })
  const tags = sqliteTable('tags', { id: integer('id').primaryKey(), label: text('label') })
  const bookTags = sqliteTable(
    'book_tags',
    { bookId: integer('book_id').references(() => books.id), tagId: integer('tag_id').references(() => tags.id) },
    t => [primaryKey({ columns: [t.bookId, t.tagId] })],
  )
  return { books, pages, tags, bookTags }
}

function pgTables() {
  const books = pgTable('books', { id: pgInteger('id').primaryKey(), name: pgText('name').notNull(), price: pgNumeric('price') })
  const pages = pgTable('pages', {
    id: pgInteger('id').primaryKey(),
    bookId: pgInteger('book_id').references(() => books.id),
    body: pgText('body'),
  })
  const tags = pgTable('tags', { id: pgInteger('id').primaryKey(), label: pgText('label') })
  const bookTags = pgTable(
    'book_tags',
    { bookId: pgInteger('book_id').references(() => books.id), tagId: pgInteger('tag_id').references(() => tags.id) },
    t => [pgPrimaryKey({ columns: [t.bookId, t.tagId] })],
  )
  return { books, pages, tags, bookTags }
}

function mysqlTables() {
  const books = mysqlTable('books', {
    id: int('id').primaryKey(),
    name: varchar('name', { length: 50 }).notNull(),
    price: decimal('price', { precision: 12, scale: 2 }),
  })
  const pages = mysqlTable('pages', {
    id: int('id').primaryKey(),
    bookId: int('book_id').references(() => books.id),
    body: varchar('body', { length: 50 }),
  })
  const tags = mysqlTable('tags', { id: int('id').primaryKey(), label: varchar('label', { length: 50 }) })
  const bookTags = mysqlTable(
    'book_tags',
    { bookId: int('book_id').references(() => books.id), tagId: int('tag_id').references(() => tags.id) },
    t => [mysqlPrimaryKey({ columns: [t.bookId, t.tagId] })],
  )
  return { books, pages, tags, bookTags }
}

const DIALECTS = {
  sqlite: { tables: sqliteTables(), dialect: RENDERERS.sqlite },
  pg: { tables: pgTables(), dialect: new PgDialect() },
  mysql: { tables: mysqlTables(), dialect: new MySqlDialect() },
}

type Name = keyof typeof DIALECTS

/** Asks for books; the first statement finds one, with nulls beside its key, so that its includes are asked for too. */
async function statementsOf(name: Name, parameters: Record<string, string>): Promise<string[]> {
  const { tables: { bookTags, ...tables }, dialect } = DIALECTS[name]
  const authorization = { permissions: { read: true } }
  const modules = [{ ...tables, bookTags }]
  const api = createApi({
    registrations: Object.entries(tables).map(([name, schema]) => ({ name, schema: schema as Table, authorization })),
    modules,
  })
  const sent: Statement[] = []
  const engine = {
    name, dialect: name, adapter: ADAPTERS[name],
    render: (sql: SQL) => {
      const { sql: text, params } = dialect.sqlToQuery(sql)
      return { text, values: params }
    },
    query: (statement: Statement): Row[] => sent.push(statement) === 1 ? [[1, 0, 0, 0, 0]] : [[0, 0, 0, 0, 0]],
  } as unknown as Engine
  const call: Call = createSystemCall(api, api.resources.get('books')!, 'read', engine, undefined)
  const request = { query: parameters } as unknown as ApiRequest
  if ('groupBy' in parameters) await executeGroups(await applyScope(call, await planGroups(parseGroups(request, call), call)), call)
  else await executeList(await applyScope(call, await planList(parseList(request, call), call)), call)
  return sent.map(({ text }) => text)
}

/** As it stands on SQLite; quotes and parameters are those of each dialect. */
const same = (...texts: string[]): Record<Name, string[]> => ({
  sqlite: texts,
  pg: texts.map((text) => {
    let place = 0
    return text.replace(/\?/g, () => `$${++place}`)
  }),
  mysql: texts.map(text => text.replaceAll('"', '`')),
})

const PAGE = 'select "books"."id" from "books" order by "books"."id" limit ?'

const SHAPES: readonly (readonly [title: string, query: Record<string, string>, expected: Record<Name, string[]>])[] = [
  ['a page and its total', { fields: 'id' }, same(PAGE, 'select count(*) from "books"')],
  [
    'a later page',
    { fields: 'id', page: '3', count: 'none' },
    same('select "books"."id" from "books" order by "books"."id" limit ? offset ?'),
  ],
  [
    'a filtered page and its total',
    { fields: 'id', filter: '{"name":"x"}' },
    same(
      'select "books"."id" from "books" where "books"."name" = ? order by "books"."id" limit ?',
      'select count(*) from "books" where "books"."name" = ?',
    ),
  ],
  [
    'a filter on a to-many relation',
    { fields: 'id', count: 'none', filter: '{"pages":{"body":"x"}}' },
    {
      sqlite: [
        'select "books"."id" from "books" where "books"."id" in (select "pages"."book_id" from "pages" where "pages"."body" = ?) order by "books"."id" limit ?',
      ],
      pg: [
        'select "books"."id" from "books" where exists (select 1 from (select "pages"."book_id" as "auto_api_key_0" from "pages" where "pages"."body" = $1) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "books"."id") order by "books"."id" limit $2',
      ],
      mysql: [
        'select `books`.`id` from `books` where `books`.`id` in (select `pages`.`book_id` from `pages` where `pages`.`body` = ?) order by `books`.`id` limit ?',
      ],
    },
  ],
  [
    'a filter for rows without related rows, or with some over a junction and two relations deep',
    { fields: 'id', count: 'none', filter: '{"$or":[{"pages":null},{"tags":{"books":{"name":"x"}}}]}' },
    {
      sqlite: [
        'select "books"."id" from "books" where ((("books"."id" in (select "pages"."book_id" from "pages")) is not true) or ("books"."id" in (select "book_tags"."book_id" from "book_tags" where "book_tags"."tag_id" in (select "tags"."id" from "tags" where "tags"."id" in (select "book_tags"."tag_id" from "book_tags" where "book_tags"."book_id" in (select "books"."id" from "books" where "books"."name" = ?)))))) order by "books"."id" limit ?',
      ],
      pg: [
        'select "books"."id" from "books" where ((not exists (select 1 from (select "pages"."book_id" as "auto_api_key_0" from "pages") as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "books"."id")) or '
        + '(exists (select 1 from (select "book_tags"."book_id" as "auto_api_key_0" from "book_tags" where exists (select 1 from (select "tags"."id" as "auto_api_key_0" from "tags" where '
        + 'exists (select 1 from (select "book_tags"."tag_id" as "auto_api_key_0" from "book_tags" where exists (select 1 from (select "books"."id" as "auto_api_key_0" from "books" where "books"."name" = $1) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "book_tags"."book_id")) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "tags"."id")'
        + ') as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "book_tags"."tag_id")) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "books"."id"))) order by "books"."id" limit $2',
      ],
      mysql: [
        'select `books`.`id` from `books` where (((`books`.`id` in (select `pages`.`book_id` from `pages`)) is not true) or (`books`.`id` in (select `book_tags`.`book_id` from `book_tags` where `book_tags`.`tag_id` in (select `tags`.`id` from `tags` where `tags`.`id` in (select `book_tags`.`tag_id` from `book_tags` where `book_tags`.`book_id` in (select `books`.`id` from `books` where `books`.`name` = ?)))))) order by `books`.`id` limit ?',
      ],
    },
  ],
  [
    'an order that ends in the primary key',
    { fields: 'name', sort: 'price,-name', count: 'none' },
    same('select "books"."name" from "books" order by "books"."price", "books"."name" desc, "books"."id" desc limit ?'),
  ],
  [
    'the columns a cursor is made of',
    { fields: 'name', sort: '-id', cursor: '' },
    same('select "books"."id", "books"."name" from "books" order by "books"."id" desc limit ?'),
  ],
  [
    'a to-many include of few parents, without their limit',
    { fields: 'id', count: 'none', include: 'pages[id]{limit:2}' },
    {
      sqlite: [
        PAGE,
        'select "pages"."id", "pages"."book_id" from "pages" where "pages"."book_id" in (select value from json_each(?)) order by "pages"."book_id", "pages"."id" limit ?',
      ],
      pg: [
        PAGE.replace('?', '$1'),
        'select "pages"."id", "pages"."book_id" from "pages" where "pages"."book_id" in (select unnest(cast(cast($1 as text) as integer[]))) order by "pages"."book_id", "pages"."id" limit $2',
      ],
      mysql: [
        PAGE.replaceAll('"', '`'),
        'select `pages`.`id`, `pages`.`book_id` from `pages` where `pages`.`book_id` in (?) order by `pages`.`book_id`, `pages`.`id` limit ?',
      ],
    },
  ],
  [
    'a many-to-many include, over its junction',
    { fields: 'id', count: 'none', include: 'tags[label]' },
    {
      sqlite: [
        PAGE,
        'select "tags"."label", "book_tags"."book_id" from "book_tags" inner join "tags" on "book_tags"."tag_id" = "tags"."id" where "book_tags"."book_id" in (select value from json_each(?)) order by "book_tags"."book_id", "tags"."id" limit ?',
      ],
      pg: [
        PAGE.replace('?', '$1'),
        'select "tags"."label", "book_tags"."book_id" from "book_tags" inner join "tags" on "book_tags"."tag_id" = "tags"."id" where "book_tags"."book_id" in (select unnest(cast(cast($1 as text) as integer[]))) order by "book_tags"."book_id", "tags"."id" limit $2',
      ],
      mysql: [
        PAGE.replaceAll('"', '`'),
        'select `tags`.`label`, `book_tags`.`book_id` from `book_tags` inner join `tags` on `book_tags`.`tag_id` = `tags`.`id` where `book_tags`.`book_id` in (?) order by `book_tags`.`book_id`, `tags`.`id` limit ?',
      ],
    },
  ],
  [
    'groups, and how many there are',
    { groupBy: 'name', having: '{"count":{"$gte":2}}', aggregate: 'count', sort: '-count' },
    {
      sqlite: [
        'select "books"."name", count(*), 0 from "books" group by "books"."name" having count(*) >= cast(? as numeric) order by count(*) desc, "books"."name" limit ? offset ?',
        'select count(*) from (select 1 as one from "books" group by "books"."name" having count(*) >= cast(? as numeric)) as g',
      ],
      pg: [
        'select "books"."name", count(*), 0 from "books" group by "books"."name" having count(*) >= cast($1 as numeric) order by count(*) desc, "books"."name" limit $2 offset $3',
        'select count(*) from (select 1 as one from "books" group by "books"."name" having count(*) >= cast($1 as numeric)) as g',
      ],
      mysql: [
        'select `books`.`name`, count(*), 0 from `books` group by `books`.`name` having count(*) >= cast(? as decimal(65, 30)) order by count(*) desc, `books`.`name` limit ? offset ?',
        'select count(*) from (select 1 as one from `books` group by `books`.`name` having count(*) >= cast(? as decimal(65, 30))) as g',
      ],
    },
  ],
  [
    'sums with every digit, averages as sums and counts',
    { groupBy: 'id', aggregate: 'sum(id),avg(id)', limit: '1' },
    {
      sqlite: [
        'select "books"."id", cast(sum("books"."id" >> 32) as text) || \':\' || cast(sum("books"."id" & 4294967295) as text), 0, cast(sum("books"."id" >> 32) as text) || \':\' || cast(sum("books"."id" & 4294967295) as text), count("books"."id") from "books" group by "books"."id" order by "books"."id" limit ? offset ?',
        'select count(*) from (select 1 as one from "books" group by "books"."id") as g',
      ],
      pg: [
        'select "books"."id", cast(sum("books"."id") as text), 0, cast(sum("books"."id") as text), count("books"."id") from "books" group by "books"."id" order by "books"."id" limit $1 offset $2',
        'select count(*) from (select 1 as one from "books" group by "books"."id") as g',
      ],
      mysql: [
        'select `books`.`id`, cast(sum(`books`.`id`) as char), 0, cast(sum(`books`.`id`) as char), count(`books`.`id`) from `books` group by `books`.`id` order by `books`.`id` limit ? offset ?',
        'select count(*) from (select 1 as one from `books` group by `books`.`id`) as g',
      ],
    },
  ],
]

describe.each(Object.keys(DIALECTS) as Name[])('%s', (name) => {
  it.each(SHAPES)('%s', async (_, query, expected) => {
    expect(await statementsOf(name, query)).toEqual(expected[name])
  })
})
