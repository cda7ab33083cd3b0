/** The OpenAPI document of resources with upserts: their parameter, and their responses. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openApi } from '../../../src/runtime/plugins'
import { createChecker } from '../../support/open-api/check'
import { findProblems, type Document } from '../../support/open-api/document'
import { createServer, type TestServer } from '../../support/server'

const tags = sqliteTable('tags', { id: integer('id').primaryKey(), slug: text('slug').notNull().unique(), name: text('name') })
const drafts = sqliteTable('drafts', { id: integer('id').primaryKey(), slug: text('slug').notNull().unique() })

let client: Database.Database
let server: TestServer
beforeEach(async () => {
  client = new Database(':memory:')
  client.exec(`create table tags (id integer primary key, slug text not null unique, name text);
    create table drafts (id integer primary key, slug text not null unique); insert into drafts values (1, 'a')`)
  const authorization = { permissions: { read: true, create: true, update: 'update' } }
  server = await createServer({
    db: drizzle({ client }),
    plugins: [openApi({ access: true })],
    registrations: [
      { name: 'tags', schema: tags, authorization },
      { name: 'drafts', schema: drafts, authorization, requireIfMatch: true },
    ],
  })
})
afterEach(() => client.close())

const send = (method: string, path: string, permissions: string[], body?: object) =>
  server.request(method, `/api/${path}`, { caller: { user: { id: 1 }, permissions }, body })

async function documentOf(...permissions: string[]): Promise<Document> {
  const { body } = await send('GET', '_openapi.json', permissions)
  expect(await findProblems(body)).toEqual([])
  return body
}

const namesOf = ({ paths }: Document, path: string) =>
  (paths[path]!.post!.parameters as readonly { readonly name?: string }[] ?? []).flatMap(({ name }) => name ?? [])
const statusesOf = ({ paths }: Document, path: string) => Object.keys(paths[path]!.post!.responses).filter(status => status < '300')

it('has the parameter and the response of an update for a caller who can create and update', async () => {
  const document = await documentOf('update')
  expect(namesOf(document, '/api/tags')).toContain('onConflict')
  expect(namesOf(document, '/api/tags/bulk')).toContain('onConflict')
  expect(statusesOf(document, '/api/tags')).toEqual(['200', '201'])
})

it('has neither for a caller who can only create', async () => {
  const document = await documentOf()
  for (const path of ['/api/tags', '/api/tags/bulk']) expect(namesOf(document, path)).not.toContain('onConflict')
  expect(statusesOf(document, '/api/tags')).toEqual(['201'])
})

it.each<[status: number, path: string, body: object]>([
  [201, 'tags?onConflict=slug', { slug: 'a' }],
  [200, 'tags?onConflict=slug', { slug: 'a', name: 'A' }],
  [200, 'tags/bulk?onConflict=slug', { items: [{ slug: 'a' }, { slug: 'b' }] }],
  [409, 'tags/bulk?onConflict=slug', { items: [{ slug: 'a' }, { slug: 'a' }] }],
  [400, 'tags?onConflict=name', { slug: 'a' }],
  [428, 'drafts?onConflict=slug', { slug: 'a' }],
  [428, 'drafts/bulk?onConflict=slug', { items: [{ slug: 'a' }] }],
])('describes the response %i of %s', async (status, path, body) => {
  const checker = createChecker(await documentOf('update'))
  if (status === 200) await send('POST', 'tags', [], { slug: 'a' })
  const answer = await send('POST', path, ['update'], body)
  expect(answer.status).toBe(status)
  const contentType = answer.headers.get('content-type') ?? undefined
  expect(checker.check({ method: 'POST', path: `/api/${path}`, status, contentType, body: answer.body })).toEqual([])
})
