/** The visibility app with API tokens and every other built-in plugin that has routes, and the ways to make each kind of credential. */
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { activityFeed, apiTokens, auditLog, batch, live, mcp, openApi, tokenIntrospection, webhooks } from '../../../src/runtime/plugins'
import { adminPlugin } from '../../../src/runtime/plugins/admin'
import { createTokenFormat } from '../../../src/runtime/plugins/api-tokens/server/format'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
import { apiTokensTable, webhookDeliveriesTable, webhooksTable } from '../../../src/runtime/plugins/schema-sqlite'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { AUDIT_LOGS, auditLogSql } from '../../engines/support/audit-log'
import { articlesAuth, closedAuth, tagsAuth } from '../../fixtures/visibility/server/auth'
import { clear, client, db, dump, put, reset } from '../../fixtures/visibility/server/database/client'
import * as schema from '../../fixtures/visibility/server/database/schema'
import { TOKENS_SQL } from '../api-tokens'
import { createTablesSql } from '../create-tables'
import { createServer, type Answered, type Caller, type TestServer } from '../server'
import type { Credential, RowIds } from './credentials'
import type { RequestOptions, Rows } from './requests'
import type { MatrixApp } from './run'

type User = Record<string, unknown> & { id: number }

const RIGHTS = { permissions: ['tokens', 'auditLog:read', 'auditLog:all', 'activity:read', 'webhooks'] }
const MEMBER: User = { id: 1, organizationId: 1, role: 'articles', ...RIGHTS }
const NEIGHBOUR: User = { id: 4, organizationId: 2, role: 'articles', ...RIGHTS }
const ADMINISTRATOR: User = { id: 3, organizationId: 2, permissions: ['*'] }

const WEBHOOKS = { webhooks: webhooksTable(), webhookDeliveries: webhookDeliveriesTable() }
/** Nothing listens there. */
const RECEIVER = 'http://127.0.0.1:9/'

export interface Sent {
  readonly session?: User
  readonly token?: string
}

export interface TokenApp {
  readonly server: TestServer
  readonly plugins: readonly AutoApiPlugin[]
  /** The user to whom the rows of the request belong. */
  readonly callerOf: (credential: Credential) => User
  readonly prepare: (credential: Credential, scopes: readonly string[]) => Promise<Sent>
  readonly send: (sent: Sent, path: string, options?: RequestOptions) => Promise<Answered>
  /** The rows of articles, and requests with a credential. */
  readonly matrixApp: (sent: Sent) => MatrixApp
  /** The ids of the rows that further requests name, created again. */
  readonly createRows: () => Promise<RowIds>
  readonly make: (user: User, body: object) => Promise<{ id: string, token: string }>
  readonly member: User
}

export async function openTokenApp(): Promise<TokenApp> {
  clear()
  client.exec(TOKENS_SQL)
  client.exec(await auditLogSql('sqlite'))
  client.exec(await createTablesSql('sqlite', WEBHOOKS))
  reset()
  const users = new Map<number, User>()
  const plugins = [
    (await import('../../fixtures/visibility/server/api-plugins')).default,
    ...(await import('../../fixtures/visibility/server/files')).default,
    apiTokens({ findUser: id => users.get(Number(id)) ?? null, failures: { limit: 1_000_000 } }),
    tokenIntrospection({ limit: 1_000_000 }),
    auditLog({ resources: ['articles', 'apiTokens'] }),
    activityFeed({ actor: { resource: 'tags', label: 'name' } }),
    batch(),
    live({ maxStreamsPerCaller: 1_000_000 }),
    mcp({ write: true }),
    openApi({ access: true, reference: true }),
    webhooks({ findUser: id => users.get(Number(id)) ?? null, allowHttp: true, allowPrivateNetworks: true, retries: [] }),
    // With a middleware, the route refuses only invalid credentials.
    adminPlugin({
      hasMiddleware: true, branding: {}, resources: {},
      pages: [{ path: '/edit', label: 'Edit', component: 'edit', permissions: [['articles', 'update']] }],
    }, { edit: { script: 'edit.js', styles: [] } }),
  ] as unknown as readonly AutoApiPlugin[]
  const server = await createServer({
    db,
    modules: [schema],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    plugins,
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    registrations: [
      {
        name: 'articles',
        schema: schema.articles,
        authorization: articlesAuth as never,
        hiddenFields: ['note'],
        protectedFields: ['cover'],
      },
      { name: 'closed', schema: schema.articles, authorization: closedAuth as never, protectedFields: ['cover'] },
      { name: 'tags', schema: schema.tags, authorization: tagsAuth as never },
      // The plugin of the files names it.
      { name: 'forgotten', schema: schema.articles, protectedFields: ['cover'] },
      {
        name: 'apiTokens',
        schema: apiTokensTable(),
        authorization: { permissions: { read: 'tokens', create: 'tokens', update: 'tokens', delete: 'tokens' } },
      },
      ...Object.entries(WEBHOOKS).map(([name, table]) => ({
        name, schema: table, authorization: { permissions: { read: 'webhooks', create: 'webhooks', update: 'webhooks', delete: 'webhooks' } },
      })),
      { name: 'auditLog', schema: AUDIT_LOGS.sqlite, authorization: { permissions: { read: 'auditLog:read' } } },
    ],
  })

  function setUsers(...changed: readonly User[]): void {
    users.clear()
    for (const user of [MEMBER, NEIGHBOUR, ADMINISTRATOR, ...changed]) users.set(user.id, user)
  }

  const send: TokenApp['send'] = ({ session, token }, path, { method = 'GET', body, headers } = {}) => {
    const caller = session ? { user: session, permissions: session.permissions } as Caller : {}
    const isBytes = body instanceof Uint8Array
    return server.request(method, `/api${path}`, {
      caller,
      ...(isBytes ? { raw: body } : { body }),
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    })
  }

  async function make(user: User, body: object) {
    const {
      status,
      body: record,
      text: answer,
    } = await send({ session: user }, '/apiTokens', { method: 'POST', body: { name: 'a token', ...body } })
    expect([status, answer]).toEqual([201, expect.any(String)])
    return record as { id: string, token: string }
  }

  /** Makes a token of the member, and changes what makes it invalid. The session of the member is sent too. */
  async function invalidate(change: (token: { id: string, token: string }) => unknown): Promise<Sent> {
    const made = await make(MEMBER, {})
    const changed = await change(made)
    return { token: typeof changed === 'string' ? changed : made.token, session: MEMBER }
  }
  const setRow = (id: string, columns: string) => void client.exec(`update api_tokens set ${columns} where id = '${id}'`)

  const credentials: Record<Credential, (scopes: readonly string[]) => Promise<Sent>> = {
    'no credential': async () => ({}),
    'a session': async () => ({ session: MEMBER }),
    'a token without scopes': async () => ({ token: (await make(MEMBER, {})).token }),
    'a token with the scopes of the request': async scopes => ({ token: (await make(MEMBER, { scopes })).token }),
    'a token that lacks one scope of the request': async scopes => ({ token: (await make(MEMBER, { scopes })).token }),
    'a token with an empty list of scopes': async () => ({ token: (await make(MEMBER, { scopes: [] })).token }),
    'a token of an owner who has lost the role': async () => {
      const { token } = await make(MEMBER, {})
      setUsers({ ...MEMBER, role: 'none', permissions: [] })
      return { token, session: MEMBER }
    },
    'a token with the scopes of an owner who has lost the role': async (scopes) => {
      const { token } = await make(MEMBER, { scopes: [...scopes, 'articles'] })
      setUsers({ ...MEMBER, role: 'none', permissions: [] })
      return { token, session: MEMBER }
    },
    'a token beside the session of an administrator': async () => ({ token: (await make(MEMBER, {})).token, session: ADMINISTRATOR }),
    'a token of another organization beside the session of a member': async scopes => ({
      token: (await make(NEIGHBOUR, { scopes })).token,
      session: MEMBER,
    }),
    'an expired token': () => invalidate(({ id }) => setRow(id, `expires_at = ${Date.now() - 1}`)),
    'a revoked token': () =>
      invalidate(async ({ id }) => {
        expect((await send({ session: MEMBER }, `/apiTokens/${id}`, { method: 'DELETE' })).status).toBe(200)
      }),
    'a trashed token': () => invalidate(({ id }) => setRow(id, `deleted_at = ${Date.now()}`)),
    'a token of a banned owner': () => invalidate(() => void users.delete(MEMBER.id)),
    'a token of a missing owner': () => invalidate(({ id }) => setRow(id, 'user_id = \'404\'')),
    'a token of an owner who has moved to another organization': () => invalidate(() => setUsers({ ...MEMBER, organizationId: 2 })),
    'a token with a wrong checksum': () => invalidate(({ token }) => token.replace(/.$/, last => (last === '0' ? '1' : '0'))),
    'an unknown token': () => invalidate(() => createTokenFormat('aat').create()),
    'a rotated token after the grace period': () =>
      invalidate(({ id }) => setRow(id, `previous_hash = token_hash, token_hash = 'new${id}', previous_until = ${Date.now() - 1}`)),
  }

  return {
    server,
    plugins,
    member: MEMBER,
    make,
    send,
    callerOf: credential => credential.startsWith('a token of another organization') ? NEIGHBOUR : MEMBER,
    prepare(credential, scopes) {
      setUsers()
      return credentials[credential](scopes)
    },
    matrixApp: sent => ({
      request: (path, options) => send(sent, path.replace(/^\/api/, ''), options),
      rows: async () => dump() as Rows,
      async putRows(rows) {
        reset()
        for (const [table, list] of Object.entries(rows)) for (const row of list) put(table, row as Record<string, unknown>)
        return dump() as Rows
      },
    }),
    async createRows() {
      setUsers()
      reset()
      client.exec('delete from audit_log; delete from webhooks; delete from webhook_deliveries')
      put('articles', { id: 1, organization_id: 1, title: 'plain' })
      const session = { session: MEMBER }
      expect((await send(session, '/articles/1', { method: 'PATCH', body: { title: 'changed' } })).status).toBe(200)
      const entry = db.get<{ id: string }>(sql`select id from audit_log where resource = 'articles' and record_id = '1'`)
      // Its rotation by any token of the member is allowed: it grants nothing, and expires first.
      const { id, token } = await make(MEMBER, { scopes: [], expiresAt: new Date(Date.now() + 60_000).toISOString() })
      const { status, body: webhook } = await send(session, '/webhooks', { method: 'POST', body: { url: RECEIVER, events: ['tags.purged'] } })
      expect(status).toBe(201)
      const delivery = crypto.randomUUID()
      put('webhook_deliveries', {
        id: delivery, webhook_id: webhook.id, event: 'tags.purged', resource: 'tags', record_id: '1', status: 'dead', attempts: 1,
        created_at: Date.now(), owner: '1', organization_id: '1', position: 1,
      })
      return { token: id, secret: token, entry: entry.id, webhook: webhook.id, delivery }
    },
  }
}
