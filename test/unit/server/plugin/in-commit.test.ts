/** inCommit of plugins: what the API reads for it, and what fails the start. `test/engines/in-commit.test.ts` shows it on every engine. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { defineAutoApiPlugin, type AutoApiPlugin, type ChangedRows } from '../../../../src/runtime/server/define'
import { createServer, type TestServer } from '../../../support/server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull(), secret: text('secret') })
const ledger = sqliteTable('ledger', { recordId: text('record_id').notNull(), before: text('before') })

let client: Database.Database
let statements: string[]
afterEach(() => client?.close())

async function open(...plugins: AutoApiPlugin[]): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`
    create table posts (id integer primary key, title text not null, secret text);
    create table ledger (record_id text not null, before text);
    insert into posts values (1, 'one', 'hush'), (2, 'two', null);
  `)
  statements = []
  return createServer({
    db: drizzle({ client, logger: { logQuery: text => void statements.push(text.split(' ').slice(0, 1).join()) } }),
    registrations: [
      {
        name: 'posts',
        schema: posts,
        hiddenFields: ['secret'],
        authorization: { permissions: { read: true, create: true, update: true, delete: true } },
      },
    ],
    plugins,
  })
}

const insertId = (changes: readonly ChangedRows[]) => changes.map(rows => rows.insertInto(ledger, { recordId: rows.id }))

const silent = defineAutoApiPlugin({ name: 'silent', inCommit: () => [] })
const counter = defineAutoApiPlugin({ name: 'counter', inCommit: insertId })
const auditor = defineAutoApiPlugin({
  name: 'auditor', needs: { images: true },
  inCommit: changes => changes.map(rows => rows.insertInto(ledger, { recordId: rows.id, before: rows.before })),
})

describe('the statements of a commit', () => {
  it.each<[string, AutoApiPlugin[], [string, string, unknown?], string[]]>([
    ['a create without plugin', [], ['POST', 'posts', { title: 'x' }], ['insert']],
    ['a create with a plugin that adds nothing', [silent], ['POST', 'posts', { title: 'x' }], ['insert']],
    ['a create with a plugin', [counter], ['POST', 'posts', { title: 'x' }], ['insert', 'insert']],
    ['a create with images', [auditor], ['POST', 'posts', { title: 'x' }], ['insert', 'insert']],
    ['an update with a plugin', [counter], ['PATCH', 'posts/1', { title: 'x' }], ['select', 'update', 'insert']],
    ['an update with images', [auditor], ['PATCH', 'posts/1', { title: 'x' }], ['select', 'select', 'update', 'insert']],
    ['a delete with a plugin', [counter], ['DELETE', 'posts/1'], ['select', 'delete', 'insert']],
    ['a delete with images', [auditor], ['DELETE', 'posts/1'], ['select', 'select', 'delete', 'insert']],
    [
      'a bulk update with images',
      [auditor],
      ['PATCH', 'posts/bulk', { items: [1, 2].map(id => ({ id, data: { title: 'x' } })) }],
      ['select', 'select', 'update', 'update', 'insert'],
    ],
    [
      'an update with two plugins',
      [auditor, counter],
      ['PATCH', 'posts/1', { title: 'x' }],
      ['select', 'select', 'update', 'insert', 'insert'],
    ],
    ['a read', [auditor], ['GET', 'posts'], ['select', 'select']],
  ])('are no more than needed for %s', async (_what, plugins, [method, path, body], expected) => {
    const server = await open(...plugins)
    statements = []
    expect((await server.request(method, `/api/${path}`, { body })).status).toBeLessThan(300)
    expect(statements).toEqual(expected)
  })

  it('contain columns that the response does not', async () => {
    const server = await open(auditor)
    const { body } = await server.request('PATCH', '/api/posts/1', { body: { title: 'x' } })
    expect(body).toEqual({ id: 1, title: 'x' })
    await server.request('DELETE', '/api/posts/1')
    expect(client.prepare('select before from ledger').pluck().all()).toEqual(['{"title":"one"}', '{"id":1,"title":"x","secret":"hush"}'])
  })
})

describe('the server fails at startup', () => {
  it.each<[string, object, RegExp]>([
    ['if a plugin needs images without taking part in commits', { needs: { images: true } }, /has `needs` without `inCommit`/],
    [
      'if a plugin needs something else',
      { needs: { rows: true }, inCommit: () => [] },
      /`needs` of the plugin "x" is not `\{ images: true \}`/,
    ],
    ['if `inCommit` is not a function', { inCommit: [] }, /`inCommit` of the plugin "x" is not a function/],
  ])('%s', async (_what, parts, message) => {
    await expect(open({ name: 'x', ...parts } as AutoApiPlugin)).rejects.toThrow(message)
  })
})
