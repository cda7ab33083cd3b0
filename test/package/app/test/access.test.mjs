/** Tests the rules of the app with the test kit. It runs with `node --test` and with vitest. */
import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { defineResource } from 'nuxt-auto-api/define'
import { createTestApi, expectAccess, expectNoLeaks } from 'nuxt-auto-api/testing'

const { test } = 'vi' in globalThis ? globalThis : await import('node:test')

const books = sqliteTable('books', { id: integer('id').primaryKey({ autoIncrement: true }), title: text('title').notNull(), price: integer('price') })

const open = async (permissions) => {
  const client = new Database(':memory:')
  client.exec('create table books (id integer primary key autoincrement, title text not null, price integer); insert into books (title, price) values (\'Emma\', 4711)')
  return createTestApi({
    resources: { books: defineResource(books, { permissions, fields: { price: { read: 'editor' } } }) },
    database: drizzle({ client }),
    engine: 'better-sqlite3',
    callers: { editor: { user: { id: 1 }, permissions: ['editor'] } },
  })
}

test('the access matrix', async () => {
  const api = await open({ read: true, update: 'editor' })
  const matrix = await expectAccess(api).rows({ books: { emma: 1 } }).toMarkdown()
  assert.match(matrix, /\| update: emma \| 401 \| yes \|/)
  const wrong = await open({ read: true, update: true })
  await assert.rejects(expectAccess(wrong).rows({ books: { emma: 1 } }).toMatchMatrix(matrix), /"update: emma" for anonymous was 401, is yes/)
  await expectNoLeaks(api, { as: 'anonymous', fields: { books: ['price'] }, secrets: [4711] })
})
