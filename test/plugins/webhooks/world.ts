/** An API with webhooks over two organizations, on a SQLite database in memory, and a receiver that remembers what it was sent. */
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { vi } from 'vitest'
import { webhooks as webhooksPlugin, type WebhooksOptions } from '../../../src/runtime/plugins'
import { softDelete, webhookDeliveriesTable, webhooksTable } from '../../../src/runtime/plugins/schema-sqlite'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { createTablesSql } from '../../support/create-tables'
import { createServer, type Caller, type ServerOptions, type TestServer } from '../../support/server'

export const webhooks = webhooksTable()
export const webhookDeliveries = webhookDeliveriesTable()
export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  status: text('status').notNull().default('published'),
  /** Only editors read it. */
  price: integer('price'),
  /** Nobody reads it. */
  secret: text('secret'),
  ...softDelete(),
})
export const notes = sqliteTable('notes', { id: integer('id').primaryKey({ autoIncrement: true }), body: text('body').notNull() })
export const ledgers = sqliteTable('ledgers', { id: integer('id').primaryKey(), sum: integer('sum') })
export const TABLES = { webhooks, webhookDeliveries, posts, notes, ledgers }

export interface User {
  id: number
  organizationId: number
  role: string
  permissions: string[]
}

const RIGHTS = ['posts', 'notes', 'webhooks']
/** By id. A test can change or remove them. */
export const createUsers = (): Map<number, User> => new Map([
  [1, { id: 1, organizationId: 1, role: 'editor', permissions: [...RIGHTS, 'ledgers'] }],
  [2, { id: 2, organizationId: 1, role: 'reader', permissions: [...RIGHTS] }],
  [3, { id: 3, organizationId: 2, role: 'editor', permissions: [...RIGHTS] }],
  [4, { id: 4, organizationId: 1, role: 'manager', permissions: [...RIGHTS, 'webhooks:manage'] }],
])

export const every = (permission: string) =>
  Object.fromEntries(['read', 'create', 'update', 'delete', 'restore', 'purge', 'viewDeleted'].map(operation => [operation, permission]))

const registrations = (): ResourceRegistration[] => [
  { name: 'webhooks', schema: webhooks, authorization: { permissions: every('webhooks') } },
  { name: 'webhookDeliveries', schema: webhookDeliveries, authorization: { permissions: every('webhooks') } },
  {
    name: 'posts',
    schema: posts,
    hiddenFields: ['secret'],
    authorization: {
      permissions: every('posts'),
      fields: { price: { read: 'editor' } },
      // Readers see published posts only.
      listFilter: (table, ctx) => ctx.user?.role === 'editor' ? undefined : sql`${(table as typeof posts).status} = 'published'`,
    },
  },
  {
    name: 'notes',
    schema: notes,
    authorization: { permissions: every('notes'), objectLevel: row => !String((row as { body: string }).body).startsWith('private') },
  },
  { name: 'ledgers', schema: ledgers, authorization: { permissions: every('ledgers') } },
]

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly payload: { readonly type: string, readonly timestamp: string, readonly data: Readonly<Record<string, unknown>> }
}

/** A server that answers 200, unless `answer` decides otherwise. */
export async function openReceiver(answer: (response: ServerResponse, received: Received) => void = response => void response.end('ok')) {
  const received: Received[] = []
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const one: Received = { headers: request.headers, body, payload: JSON.parse(body) as Received['payload'] }
      received.push(one)
      answer(response, one)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    close: () => new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    }),
  }
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>

export interface WebhookWorld {
  readonly server: TestServer
  readonly client: Database.Database
  readonly users: Map<number, User>
  /** The caller of a session, with the current rights of the user. */
  readonly as: (id: number) => Caller
  /** Makes a webhook of a user. */
  readonly make: (userId: number, body: object) => Promise<{ id: string, secret: string } & Record<string, unknown>>
  /** Waits until every delivery has the wanted state. @default until none is pending */
  readonly settled: (isDone?: (rows: readonly Record<string, unknown>[]) => boolean) => Promise<readonly Record<string, unknown>[]>
  /** Ends the server, and closes the database unless it is that of another server. */
  readonly close: () => Promise<void>
}

export interface WorldOptions extends Partial<Omit<ServerOptions, 'plugins'>> {
  readonly options?: Partial<WebhooksOptions>
  readonly plugins?: readonly unknown[]
  /** The database of another server: a second instance of the same app. */
  readonly client?: Database.Database
}

export async function openWebhooks(
  { options, plugins = [], client: shared, registrations: further = [], config, ...rest }: WorldOptions = {},
): Promise<WebhookWorld> {
  const client = shared ?? new Database(':memory:')
  if (!shared) client.exec(await createTablesSql('sqlite', TABLES))
  const users = createUsers()
  const findUser = vi.fn((id: string) => users.get(Number(id)) ?? null)
  const server = await createServer({
    db: drizzle({ client }),
    registrations: [...registrations(), ...further],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, ...config },
    plugins: [
      webhooksPlugin({ findUser, allowHttp: true, allowPrivateNetworks: true, manage: 'webhooks:manage', ...options } as WebhooksOptions),
      ...plugins,
    ],
    ...rest,
  })
  const as = (id: number): Caller => {
    const user = users.get(id)
    return user ? { user: { ...user }, permissions: user.permissions } : {}
  }
  const world: WebhookWorld = {
    server, client, users, as,
    async make(userId, body) {
      const answer = await server.request('POST', '/api/webhooks', { body, caller: as(userId) })
      if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body as never
    },
    settled: (isDone = rows => rows.every(({ status }) => status !== 'pending')) => vi.waitFor(() => {
      const rows = client.prepare('select * from webhook_deliveries order by position, id').all() as Record<string, unknown>[]
      if (!isDone(rows)) throw new Error(JSON.stringify(rows.map(({ event, status, error }) => [event, status, error])))
      return rows
    }, { timeout: 10_000, interval: 10 }),
    async close() {
      await server.stop()
      if (!shared) client.close()
    },
  }
  return world
}
