/** Every route with every kind of credential: what a token can do on it, and that an invalid one never can. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS, type Operation } from '../../../src/runtime/shared/operations'
import { client, dump } from '../../fixtures/visibility/server/database/client'
import {
  ABOUT_CALLER, CREDENTIALS, credentialCell, furtherOutcome, FURTHER_REQUESTS, INVALID, scopesOf, type Credential, type FurtherRequest,
} from '../../support/matrix/credentials'
import { PLUGIN_REQUESTS, routeNameOf } from '../../support/matrix/plugin-routes'
import { REASONS } from '../../support/matrix/reasons'
import { REQUESTS, type Request, type RequestName } from '../../support/matrix/requests'
import { expectCell, REQUEST_NAMES } from '../../support/matrix/run'
import { openTokenApp, type Sent, type TokenApp } from '../../support/matrix/token-app'
import { createBuiltInPlugins } from '../../support/plugins'
import type { Answered } from '../../support/server'

let app: TokenApp
beforeAll(async () => {
  app = await openTokenApp()
})
afterAll(() => app.server.stop())

const LACKING: Credential = 'a token that lacks one scope of the request'
/** All scopes that the owner has. The token lacks only one of them. */
const OPERATIONS_OF: Readonly<Record<string, readonly Operation[]>> = {
  articles: OPERATIONS,
  tags: OPERATIONS,
  apiTokens: ['read', 'create', 'update', 'delete'],
  auditLog: ['read'],
  webhooks: ['read', 'create', 'update', 'delete'],
  webhookDeliveries: ['read', 'update', 'delete'],
}
const ALL = [
  'activity:read',
  ...Object.entries(OPERATIONS_OF).flatMap(([resource, operations]) => operations.map(operation => `${resource}:${operation}`)),
]
const without = (lacking: string) => ALL.filter(scope => scope !== lacking)

/** The scopes of the token that a credential needs: one list, or one without each scope. */
function scopeLists(credential: Credential, scopes: readonly string[], name: string): readonly (readonly string[])[] {
  if (credential !== LACKING) return [scopes]
  return ABOUT_CALLER.has(name) ? [] : scopes.map(without)
}

const VISIBLE_ROW = { ...REASONS['the row is another tenant\'s'].row, organization_id: 1 }
const further = Object.entries(FURTHER_REQUESTS) as [string, FurtherRequest][]
const outcome = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body?.data?.code}`

describe('the matrix of credentials', () => {
  it('has a row for every route of every built-in plugin', () => {
    const known = [...PLUGIN_REQUESTS.keys(), ...Object.keys(FURTHER_REQUESTS)]
    // The plugin of the files has a route for each resource.
    const routes = new Set(app.plugins.flatMap(({ name, routes = [] }) => routes.map(route => routeNameOf(name, route))))
    expect(known.sort()).toEqual([...routes].sort())
    const withRoutes = createBuiltInPlugins().filter(({ routes = [] }) => routes.length > 0).map(({ name }) => name)
    expect(app.plugins.map(({ name }) => name)).toEqual(expect.arrayContaining(withRoutes))
  })
})

describe.each(CREDENTIALS)('%s', (credential) => {
  it.each(REQUEST_NAMES.map(name => ({ name, cell: credentialCell(credential, name) })))('$name: $cell', async ({ name, cell }) => {
    const { id, organizationId } = app.callerOf(credential)
    const situation = { resource: 'articles', row: VISIBLE_ROW, caller: { user: { id, organizationId: organizationId as number } } }
    for (const scopes of scopeLists(credential, scopesOf(name), name))
      await expectCell(app.matrixApp(await app.prepare(credential, scopes)), name, situation, cell)
  })

  it.each(further.map(([name, request]) => ({ name, request, expected: furtherOutcome(credential, request) })))(
    '$name: $expected',
    async ({ name, request, expected }) => {
      for (const scopes of scopeLists(credential, request.scopes, name)) {
        const ids = await app.createRows()
        const sent = await app.prepare(credential, [...new Set([...scopes, ...(request.hiddenWithout ?? [])])])
        const before = allRows()
        expect(outcome(await app.send(sent, ...request.target(ids))), scopes.join()).toBe(expected)
        if (Number(expected.slice(0, 3)) >= 400) expect(allRows()).toEqual(before)
      }
    },
  )
})

/** Every row of every table, without the time at which tokens were used. */
const allRows = () => ({
  ...dump(),
  entries: client.prepare('select id from audit_log').all(),
  tokens: client.prepare('select id, token_hash from api_tokens').all(),
  webhooks: client.prepare('select id, url, events, active, secret from webhooks').all(),
  deliveries: client.prepare('select id, event, attempts from webhook_deliveries').all(),
})

it.each(further.flatMap(([name, request]) => (request.hiddenWithout ? [{ name, request, hidden: request.hiddenWithout }] : [])))(
  'a token without the scopes with which a row is visible gets 404: $name',
  async ({ request, hidden }) => {
    for (const scope of hidden) {
      const ids = await app.createRows()
      const sent = await app.prepare(LACKING, without(scope))
      expect(outcome(await app.send(sent, ...request.target(ids))), scope).toBe('404 NOT_FOUND')
    }
  },
)

describe('an invalid token', () => {
  it('has the same response on every route', async () => {
    const ids = await app.createRows()
    const seen = new Map<string, string>()
    const add = (where: string, { status, text, headers }: Answered) => {
      const rest = [...headers].filter(([name]) => name !== 'date').sort()
      seen.set(JSON.stringify([status, text, rest]), where)
    }
    for (const credential of INVALID) {
      const sent = await app.prepare(credential, [])
      const noSession: Sent = { token: sent.token! }
      for (const name of REQUEST_NAMES) for (const variant of [sent, noSession]) {
        const { target }: Request = PLUGIN_REQUESTS.get(name) ?? REQUESTS[name as RequestName]
        add(name, await app.send(variant, ...target('articles')))
      }
      for (const [name, { target }] of further) add(name, await app.send(noSession, ...target(ids)))
    }
    expect([...seen.values()]).toHaveLength(1)
  })
})

describe('a route that accepts one of several operations', () => {
  const CREATES = '{"title":"made"}'
  const UPDATES = '{"id":1,"title":"renamed"}'
  const [BOTH, CREATE, UPDATE] = [['create', 'update'], ['create'], ['update']].map(operations =>
    operations.map(operation => `articles:${operation}`),
  ) as [string[], string[], string[]]

  it.each<[what: string, scopes: string[], lines: string[], outcome: string]>([
    ['both operations, with both scopes', BOTH, [UPDATES, CREATES], '200'],
    ['a create, with its scope', CREATE, [CREATES], '200'],
    ['an update, with its scope', UPDATE, [UPDATES], '200'],
    ['a create, with the scope of the other', UPDATE, [CREATES], '403 FORBIDDEN'],
    ['an update, with the scope of the other', CREATE, [UPDATES], '403 FORBIDDEN'],
    ['both operations, with the scope of a create', CREATE, [UPDATES, CREATES], '403 FORBIDDEN'],
    ['both operations, with the scope of an update', UPDATE, [CREATES, UPDATES], '403 FORBIDDEN'],
    ['an update, with other scopes', ['articles:read', 'articles:delete'], [UPDATES], '403 FORBIDDEN'],
  ])('%s', async (_what, scopes, lines, expected) => {
    await app.createRows()
    const sent = await app.prepare('a token with the scopes of the request', scopes)
    const before = allRows()
    const body = Buffer.from(lines.join('\n'))
    const answer = await app.send(sent, '/articles/import?mode=upsert', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(outcome(answer)).toBe(expected)
    expect(JSON.stringify(allRows()) === JSON.stringify(before)).toBe(expected !== '200')
  })
})

describe('a token with one scope', () => {
  const capabilityOf = (operation: string) => `can${operation[0]!.toUpperCase()}${operation.slice(1)}`

  it.each(OPERATIONS)('shows only this operation in its permissions: %s', async (operation) => {
    const sent = await app.prepare('a token with the scopes of the request', [`articles:${operation}`])
    const expected = Object.fromEntries(OPERATIONS.map(name => [capabilityOf(name), name === operation]))
    const [own, all, described] = await Promise.all(['/articles/permissions', '/permissions', '/_schema'].map(path => app.send(sent, path)))
    expect(own!.body).toMatchObject(expected)
    expect(all!.body.permissions.articles).toMatchObject(expected)
    if (operation === 'read') expect(described!.body.resources.articles.capabilities).toMatchObject(expected)
    for (const name of ['tags', 'apiTokens', 'auditLog'])
      expect(Object.entries(all!.body.permissions[name]).filter(([, value]) => value === true)).toEqual([])
  })
})

describe('the audit log', () => {
  it.each<[what: string, scopes: string[] | null, resources: string[]]>([
    ['all entries but those of tokens, without scopes', null, ['articles']],
    ['no entry of a resource that no scope can read', ['auditLog:read', 'auditLog:all'], []],
    ['entries of the resource that a scope can read', ['auditLog:read', 'auditLog:all', 'articles:read'], ['articles']],
    [
      'entries of both resources, with the scopes of both',
      ['auditLog:read', 'auditLog:all', 'articles:read', 'apiTokens:read'],
      ['apiTokens', 'articles'],
    ],
  ])('shows %s, to a token of an owner who sees all entries', async (_what, scopes, resources) => {
    await app.createRows()
    const { token } = await app.make(app.member, { scopes })
    const { body } = await app.send({ token }, '/audit-log')
    const shown = body.data.map(({ resource }: { resource: string }) => resource)
    expect([...new Set(shown)].sort()).toEqual(resources)
    expect(body.meta.total).toBe(shown.length)
    expect(
      (await app.send({ session: app.member }, '/audit-log')).body.data.map(({ resource }: { resource: string }) => resource),
    ).toContain('apiTokens')
  })
})

it.each<[scopes: string[] | undefined, pages: string[]]>([
  [undefined, ['/edit']], [['articles:update'], ['/edit']], [['articles:read'], []], [[], []],
])('a token with the scopes %j opens the pages %j of the admin', async (scopes, pages) => {
  const { token } = await app.make(app.member, scopes ? { scopes } : {})
  const { body } = await app.send({ token }, '/_admin')
  expect(body.pages.map(({ path }: { path: string }) => path)).toEqual(pages)
})
