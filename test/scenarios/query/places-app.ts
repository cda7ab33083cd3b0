/** An API with every built-in plugin that has routes or reads headers, over columns of every kind. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { customType, integer, numeric, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  activityFeed, apiTokens, auditLog, dataExport, fileUpload, idempotency, mcp, openApi, tokenIntrospection, type FileStorage,
} from '../../../src/runtime/plugins'
import { adminPlugin } from '../../../src/runtime/plugins/admin'
import { apiTokensTable, auditLogTable, idempotencyKeysTable, softDelete } from '../../../src/runtime/plugins/schema-sqlite'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import { createTablesSql } from '../../support/create-tables'
import { createServer, type Answered, type Caller, type ServerOptions } from '../../support/server'

const shout = customType<{ data: string, driverData: string }>({ dataType: () => 'text', toDriver: value => value.toUpperCase() })

const things = sqliteTable('things', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  parentId: integer('parent_id'),
  title: text('title'),
  amount: integer('amount'),
  score: real('score'),
  price: numeric('price'),
  size: integer('size', { mode: 'number' }),
  done: integer('done', { mode: 'boolean' }),
  at: integer('at', { mode: 'timestamp_ms' }),
  big: numeric('big', { mode: 'bigint' }),
  loud: shout('loud'),
  meta: text('meta', { mode: 'json' }),
  cover: text('cover'),
  ...softDelete(),
})
const marks = sqliteTable('marks', { id: integer('id').primaryKey({ autoIncrement: true }), name: text('name').notNull() })
const thingMarks = sqliteTable('thing_marks', {
  thingId: integer('thing_id').notNull().references(() => things.id),
  markId: integer('mark_id').notNull().references(() => marks.id),
  position: integer('position'),
}, t => [primaryKey({ columns: [t.thingId, t.markId] })])
const pairs = sqliteTable('pairs', { a: integer('a').notNull(), b: text('b').notNull(), note: text('note') }, t => [
  primaryKey({ columns: [t.a, t.b] }),
])

const tables = {
  things,
  marks,
  thingMarks,
  pairs,
  auditLog: auditLogTable(),
  apiTokens: apiTokensTable(),
  idempotencyKeys: idempotencyKeysTable(),
}

const ALL: ResourceAuth = {
  permissions: { read: true, create: true, update: true, delete: true, aggregate: true, restore: true, purge: true, viewDeleted: true },
}

/** Keeps nothing. */
const storage: FileStorage = {
  async put(_key, chunks) {
    for await (const _ of chunks) { /* nothing is kept */ }
  },
  get: async () => undefined,
  delete: async () => {},
  async* list() {},
}

const CALLER: Caller = { user: { id: 1 }, permissions: ['activity:read'] }

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface PlacesApi {
  readonly send: (sent: Sent, caller?: Caller) => Promise<Answered>
  readonly close: () => void
}

/** Two things, the second one in the trash, one mark and one pair, with every built-in plugin that has routes or reads headers. */
export async function openPlaces(options: Partial<ServerOptions> = {}): Promise<PlacesApi> {
  const client = new Database(':memory:')
  client.exec(`${await createTablesSql('sqlite', tables)};
    insert into things (id, title, amount, done, cover) values (1, 'one', 1, 1, null);
    insert into things (id, title, deleted_at, deletion_id) values (2, 'two', 1, '00000000-0000-7000-8000-000000000000');
    insert into marks (id, name) values (1, 'red'); insert into pairs (a, b) values (1, 'x');`)
  const server = await createServer({
    db: drizzle({ client }),
    secret: 's'.repeat(32),
    modules: [tables],
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    registrations: [
      { name: 'things', schema: things, authorization: ALL, protectedFields: ['cover'] },
      { name: 'marks', schema: marks, authorization: ALL },
      { name: 'pairs', schema: pairs, authorization: { permissions: { ...ALL.permissions, read: ({ user }) => user !== null } } },
      { name: 'auditLog', schema: tables.auditLog, authorization: { permissions: { read: true } } },
      { name: 'apiTokens', schema: tables.apiTokens, authorization: ALL },
    ],
    plugins: [
      auditLog({ resources: ['things', 'marks'] }),
      activityFeed({ actor: { resource: 'marks', label: 'name' } }),
      apiTokens({ findUser: () => ({ id: 1 }) }),
      tokenIntrospection({ limit: 1_000_000 }),
      dataExport({ concurrent: 100 }),
      fileUpload({ resources: { things: { cover: { accept: ['text/csv'], maxSize: 1000 } } }, storage }),
      idempotency(),
      mcp({ write: true }),
      openApi({ access: true, reference: true } as never),
      adminPlugin({ hasMiddleware: true, branding: {}, pages: [], resources: {} }, {}),
    ],
    ...options,
  })
  return {
    send({ method = 'GET', path, query = {}, body, raw, headers = {} }, caller = CALLER) {
      const parameters = new URLSearchParams(query)
      return server.request(method, `/api${path}${parameters.size > 0 ? `?${parameters}` : ''}`, {
        body,
        raw,
        headers: { ...headers },
        caller,
      })
    },
    close: () => void client.close(),
  }
}
