/** The app that the published vulnerabilities are tried against: two organizations, every kind of rule, and the plugins that add routes. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ne } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  apiTokens, batch, dataExport, fileSystemStorage, fileUpload, live, mcp, openApi, rateLimit, responseCache, webhooks,
} from '../../../src/runtime/plugins'
import { apiTokensTable, webhookDeliveriesTable, webhooksTable } from '../../../src/runtime/plugins/schema-sqlite'
import type { AutoApiContext, ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { createTablesSql } from '../../support/create-tables'
import { dumpOf } from '../../support/notebook'
import { createServer, type Answered, type Caller, type TestServer } from '../../support/server'

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const people = sqliteTable('people', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  name: text('name').notNull(),
  email: text('email').unique(),
  /** Only for callers with the permission `hr`. */
  salary: integer('salary'),
  /** A hidden field. */
  password: text('password'),
  /** Every caller reads it, administrators write it. */
  role: text('role').notNull().default('member'),
})
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  status: text('status').notNull().default('open'),
  views: integer('views').notNull().default(0),
  meta: text('meta', { mode: 'json' }),
  authorId: integer('author_id').references(() => people.id),
  cover: text('cover', { mode: 'json' }).$type<unknown>(),
  ...trash(),
})
/** A rule in code shows a draft to its owner only. */
const drafts = sqliteTable('drafts', {
  id: integer('id').primaryKey(),
  ownerId: integer('owner_id').notNull(),
  body: text('body').notNull(),
})
/** A resource without authorization. */
const vaults = sqliteTable('vaults', { id: integer('id').primaryKey(), code: text('code').notNull() })
const tables = {
  people, posts, drafts, vaults, apiTokens: apiTokensTable(), webhooks: webhooksTable(), webhookDeliveries: webhookDeliveriesTable(),
}

const ROWS = `
  insert into people values (1, 1, 'Ada', 'ada@one', 51, 'HASH-ada', 'member'), (2, 1, 'Bob', 'bob@one', 918273, 'HASH-bob', 'member'),
    (3, 2, 'Eve', 'eve@two', 77, 'HASH-eve', 'member');
  insert into posts (id, organization_id, title, status, views, meta, author_id) values (1, 1, 'first', 'open', 5, '{"a":1}', 1),
    (2, 1, 'second', 'open', 7, null, 2), (3, 1, 'SEALED', 'secret', 640064, null, 2), (4, 2, 'FOREIGN', 'open', 730073, null, 3);
  insert into posts (id, organization_id, title, deleted_at, deletion_id) values (5, 1, 'TRASHED', 1, 'd5');
  insert into drafts values (1, 1, 'mine'), (2, 2, 'PRIVATE');
  insert into vaults values (1, 'VAULT');`

/** What Ada must not see: hidden and refused fields, and rows that a tenant, a filter, a rule in code or the trash hides. */
export const SECRETS = ['HASH-', '918273', 'SEALED', '640064', 'FOREIGN', '730073', 'TRASHED', 'PRIVATE', 'VAULT'] as const

interface User extends Record<string, unknown> { readonly id: number, readonly organizationId: number, readonly permissions: string[] }

const WRITER = ['write', 'tokens', 'webhooks']
export const createUsers = (): Map<number, User> => new Map([
  [1, { id: 1, organizationId: 1, permissions: WRITER }],
  [2, { id: 2, organizationId: 1, permissions: WRITER }],
  [3, { id: 3, organizationId: 2, permissions: WRITER }],
  [4, { id: 4, organizationId: 1, permissions: [...WRITER, 'hr', 'admin', 'editor'] }],
])

export type CallerName = 'ada' | 'eve' | 'admin' | 'anonymous'
const IDS: Readonly<Record<CallerName, number | undefined>> = { ada: 1, eve: 3, admin: 4, anonymous: undefined }

/** Begins a whole path. */
export const HOST = 'http://localhost'

export interface Options {
  /** Requests of a caller within a minute. @default unlimited */
  readonly limit?: number
}

export interface Sent {
  /** @default 'ada' */
  readonly as?: CallerName
  readonly method?: string
  /** Begins after `/api`, or with {@link HOST}. */
  readonly path: string
  readonly body?: unknown
  readonly raw?: string | Uint8Array
  readonly headers?: Record<string, string>
}

export interface World {
  readonly server: TestServer
  readonly client: Database.Database
  readonly users: Map<number, User>
  readonly send: (sent: Sent) => Promise<Answered>
  /** Makes a token of Ada. */
  readonly makeToken: (body?: object) => Promise<{ readonly id: string, readonly token: string }>
  /** The rows of the tables, as text. */
  readonly dump: () => string
  /** The paths of stored files. */
  readonly files: () => readonly string[]
  readonly close: () => Promise<void>
}

let ddl: Promise<string> | undefined

export async function openWorld({ limit }: Options = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'cves-'))
  const client = new Database(':memory:')
  client.exec(await (ddl ??= createTablesSql('sqlite', tables)) + ROWS)
  client.pragma('foreign_keys = on')
  const users = createUsers()
  const findUser = (id: string | number) => users.get(Number(id)) ?? null
  const server = await createServer({
    db: drizzle({ client }),
    modules: [tables],
    registrations: registrations(),
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, filters: { ...DEFAULT_CONFIG.filters, extended: true } },
    secret: 'a secret of at least thirty-two characters',
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    plugins: [
      ...limit === undefined ? [] : [rateLimit({ by: 'user', limit })],
      apiTokens({ findUser } as never), batch(), dataExport(), live(), mcp({ write: true }), openApi(), responseCache(),
      webhooks({ findUser, manage: 'webhooks:manage' } as never),
      fileUpload({
        resources: { posts: { cover: { accept: ['image/png', 'text/plain'], maxSize: '100kb', maxPixels: 10_000 } } },
        storage: fileSystemStorage({ base: folder }),
      }),
    ],
  })
  const send: World['send'] = ({ as = 'ada', path, method = 'GET', body, raw, headers }) => {
    const user = users.get(IDS[as] ?? -1)
    const caller: Caller = user ? { user: { ...user }, permissions: user.permissions } : {}
    return server.request(method, path.startsWith(HOST) ? path.slice(HOST.length) : `/api${path}`, { body, raw, headers, caller })
  }
  return {
    server, client, users, send,
    async makeToken(body = {}) {
      const { status, body: made, text } = await send({ method: 'POST', path: '/apiTokens', body: { name: 'token', ...body } })
      if (status !== 201) throw new Error(text)
      return made as { id: string, token: string }
    },
    dump: () => dumpOf(client),
    files: () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1)),
    async close() {
      // The time at which a token was used is written after the response.
      await new Promise(resolve => setTimeout(resolve, 5))
      await server.stop()
      client.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const every = (permission: string) =>
  Object.fromEntries(['read', 'create', 'update', 'delete'].map(operation => [operation, permission]))

const registrations = () => [
  {
    name: 'people', schema: people, hiddenFields: ['password'],
    authorization: {
      permissions: { read: true, create: 'write', update: 'write', delete: 'admin' },
      fields: { salary: { read: 'hr', write: 'hr' }, role: { write: 'admin' }, password: { write: 'admin' } },
    },
  },
  {
    name: 'posts', schema: posts, protectedFields: ['cover'],
    authorization: {
      permissions: { read: true, create: 'write', update: 'write', delete: 'write', restore: 'admin', purge: 'admin', viewDeleted: 'admin' },
      listFilter: (table: typeof posts, ctx: AutoApiContext) => ctx.permissions.includes('editor') ? undefined : ne(table.status, 'secret'),
    },
  },
  {
    name: 'drafts', schema: drafts,
    authorization: { permissions: every('write'), objectLevel: (row: { ownerId: number }, ctx: AutoApiContext) => row.ownerId === ctx.user?.id },
  },
  { name: 'vaults', schema: vaults },
  { name: 'apiTokens', schema: tables.apiTokens, authorization: { permissions: every('tokens') } },
  { name: 'webhooks', schema: tables.webhooks, authorization: { permissions: every('webhooks') } },
  { name: 'webhookDeliveries', schema: tables.webhookDeliveries, authorization: { permissions: every('webhooks') } },
] as unknown as ResourceRegistration[]
