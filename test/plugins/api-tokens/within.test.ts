/**
 * What a token can do is within what its owner can do now and within its scopes, on every route: for random rights of the owner, random
 * rules about operations, rows and fields, and random scopes. The same request is sent by the owner's session and with the token.
 */
import { eq, ne, type SQL } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { FALLBACKS, OPERATIONS, type Operation } from '../../../src/runtime/shared/operations'
import { apiTokens } from '../../../src/runtime/plugins'
import { hashToken, createTokenFormat } from '../../../src/runtime/plugins/api-tokens/server/format'
import type { AutoApiContext, Permission, ResourceAuth } from '../../../src/runtime/server/define'
import { apiTokensTable } from '../../../src/runtime/plugins/schema-sqlite'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { clear, client, db, dump, put, reset } from '../../fixtures/visibility/server/database/client'
import * as schema from '../../fixtures/visibility/server/database/schema'
import { TOKENS_SQL } from '../../support/api-tokens'
import { scopesOf } from '../../support/matrix/credentials'
import { PLUGIN_REQUESTS } from '../../support/matrix/plugin-routes'
import { changesBetween, REQUESTS, type Request, type RequestName, type RequestOptions, type Rows } from '../../support/matrix/requests'
import { REQUEST_NAMES } from '../../support/matrix/run'
import { createServer, type Answered, type Caller, type TestServer } from '../../support/server'
import { byTier } from '../../support/tiers'

const roleOf = ({ user }: AutoApiContext) => user?.role

/** Rules about an operation or a field, by name so that a counterexample can be read. Some allow more to callers without a role. */
const RULES: Readonly<Record<string, Permission | undefined>> = {
  'true': true,
  'false': false,
  'undeclared': undefined,
  'a': 'a',
  'b': 'b',
  'the role': 'editor',
  'a or the role': ['a', 'editor'],
  'b or a function': ['b', ctx => roleOf(ctx) === 'writer'],
  'nothing of a list': [],
  'signed in': ctx => ctx.user !== null,
  'a function of permissions': ctx => ctx.permissions.includes('a'),
  'a function of the role': ctx => roleOf(ctx) === 'editor',
  'everybody but writers': ctx => roleOf(ctx) !== 'writer',
  'everybody without b': ctx => !ctx.permissions.includes('b'),
}

type RowRule = (ctx: AutoApiContext) => 'all' | 'open' | 'plain'
const ROW_RULES: Readonly<Record<string, RowRule | undefined>> = {
  'none': undefined,
  'editors see all': ctx => roleOf(ctx) === 'editor' ? 'all' : 'open',
  'writers see less': ctx => roleOf(ctx) === 'writer' ? 'open' : 'all',
  'a sees all': ctx => ctx.permissions.includes('a') ? 'all' : 'plain',
  'b sees less': ctx => ctx.permissions.includes('b') ? 'plain' : 'all',
}
type Article = { readonly status: string, readonly title: string }
const SQL_OF: Readonly<Record<ReturnType<RowRule>, (table: typeof schema.articles) => SQL | undefined>> = {
  all: () => undefined,
  open: table => eq(table.status, 'open'),
  plain: table => ne(table.title, 'sealed'),
}
const ACCEPTS: Readonly<Record<ReturnType<RowRule>, (row: Article) => boolean>> = {
  all: () => true,
  open: row => row.status === 'open',
  plain: row => row.title !== 'sealed',
}

const rule = fc.constantFrom(...Object.keys(RULES))
const usually = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('true', 'signed in', 'a', 'a or the role', 'everybody but writers') },
  { weight: 2, arbitrary: rule },
)
const rules = fc.record(Object.fromEntries(OPERATIONS.map(operation => [operation, usually])) as Record<Operation, typeof usually>)
const SCOPES = [
  ...['articles', 'tags'].flatMap(resource => OPERATIONS.map(operation => `${resource}:${operation}`)),
  'a',
  'b',
  'editor',
  'writer',
  '*',
]

const CASE = fc.record({
  role: fc.constantFrom('editor', 'writer', undefined),
  permissions: fc.subarray(['a', 'b', '*']).filter(list => !list.includes('*') || list.length === 1),
  scopes: fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 6, arbitrary: fc.subarray(SCOPES) },
    { weight: 3, arbitrary: fc.subarray(SCOPES, { minLength: SCOPES.length - 4 }) },
  ),
  articles: rules,
  tags: rules,
  rows: fc.constantFrom(...Object.keys(ROW_RULES)),
  objects: fc.constantFrom(...Object.keys(ROW_RULES)),
  readNote: usually,
  writeNote: usually,
})
type Case = typeof CASE extends fc.Arbitrary<infer T> ? T : never

const toPermissions = (names: Readonly<Record<Operation, string>>) =>
  Object.fromEntries(
    Object.entries(names)
      .map(([operation, name]) => [operation, RULES[name]])
      .filter(([, value]) => value !== undefined),
  ) as ResourceAuth['permissions']

function toAuth({ articles, rows, objects, readNote, writeNote }: Case): ResourceAuth {
  const [filter, accepts] = [ROW_RULES[rows], ROW_RULES[objects]]
  return {
    permissions: toPermissions(articles),
    ...filter && { listFilter: (table, ctx) => SQL_OF[filter(ctx)](table as typeof schema.articles) },
    ...accepts && { objectLevel: (row, ctx) => ACCEPTS[accepts(ctx)](row as unknown as Article) },
    fields: { note: { read: RULES[readNote] ?? true, write: RULES[writeNote] ?? true } },
  }
}

/** Requests about the field with rules, besides those of the matrix. */
const FIELD_REQUESTS: readonly {
  readonly name: string
  readonly like: RequestName
  readonly target: [path: string, options?: RequestOptions]
  readonly scopes?: readonly string[]
}[] = [
  { name: 'select the field', like: 'list', target: ['/articles?fields=id,note'] },
  { name: 'sort by the field', like: 'list', target: ['/articles?sort=note'] },
  { name: 'filter by the field', like: 'list', target: ['/articles?filter[note]=n1'] },
  { name: 'count by the field', like: 'aggregate', target: ['/articles/aggregate?aggregate=count&groupBy=note'] },
  { name: 'create the field', like: 'create', target: ['/articles', { method: 'POST', body: { title: 'made', note: 'x' } }] },
  { name: 'update the field', like: 'update', target: ['/articles/1', { method: 'PATCH', body: { note: 'x' } }] },
  { name: 'include', like: 'related', target: ['/articles?include=tags'] },
  { name: 'include from the other side', like: 'related', target: ['/tags?include=articles'] },
]

const ALL: readonly {
  readonly name: string
  readonly scopes: readonly string[]
  readonly target: [path: string, options?: RequestOptions]
  readonly ofTrash?: true
  readonly linked?: true
}[] = [
  ...REQUEST_NAMES.map((name) => {
    const { target, ofTrash, linked }: Request = PLUGIN_REQUESTS.get(name) ?? REQUESTS[name as RequestName]
    return {
      name,
      scopes: isAboutCaller(name) ? [] : scopesOf(name),
      target: target('articles'),
      ...(ofTrash && { ofTrash }),
      ...(linked && { linked }),
    }
  }),
  ...FIELD_REQUESTS.map(({ like, ...request }) => ({ scopes: scopesOf(like), ...request })),
]

function isAboutCaller(name: string): boolean {
  return name.includes('permissions') || name === 'schema'
}

const TOKEN = createTokenFormat('aat').create()
let tokenHash: string
beforeAll(async () => {
  clear()
  client.exec(TOKENS_SQL)
  tokenHash = await hashToken(TOKEN)
})

interface World {
  readonly server: TestServer
  readonly owner: Record<string, unknown> & { permissions: string[] }
}

async function open(given: Case): Promise<World> {
  const { role, permissions, scopes } = given
  const owner = { id: 1, organizationId: 1, ...role !== undefined && { role }, permissions }
  client.exec('delete from api_tokens')
  client
    .prepare(
      'insert into api_tokens (id, name, user_id, organization_id, scopes, start, token_hash, last_used_at, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    )
    .run('t', 'token', '1', '1', scopes && JSON.stringify(scopes), TOKEN.slice(0, 8), tokenHash, Date.now(), Date.now(), Date.now())
  const server = await createServer({
    db,
    modules: [schema],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    plugins: [
      async () => (await import('../../fixtures/visibility/server/api-plugins')).default,
      async () => (await import('../../fixtures/visibility/server/files')).default,
      apiTokens({ findUser: () => owner }),
    ],
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    registrations: [
      { name: 'articles', schema: schema.articles, authorization: toAuth(given), protectedFields: ['cover'] },
      // The plugin of the files names them.
      { name: 'closed', schema: schema.articles, protectedFields: ['cover'] },
      { name: 'forgotten', schema: schema.articles, protectedFields: ['cover'] },
      { name: 'tags', schema: schema.tags, authorization: { permissions: toPermissions(given.tags) } },
      { name: 'apiTokens', schema: apiTokensTable(), authorization: { permissions: {} } },
    ],
  })
  return { server, owner }
}

const ROWS = [
  { id: 1, title: 'plain', status: 'open', note: 'n1' }, { id: 2, title: 'sealed', status: 'open', note: 'n2' },
  { id: 3, title: 'plain', status: 'secret', note: 'n1' }, { id: 4, title: 'sealed', status: 'secret', note: null },
]

interface Outcome extends Answered {
  readonly changes: readonly string[]
}

async function send(
  { server, owner }: World,
  { target: [path, options = {}], ofTrash, linked }: (typeof ALL)[number],
  withToken: boolean,
): Promise<Outcome> {
  reset()
  for (const row of ROWS)
    put('articles', { organization_id: 1, ...row, ...(ofTrash && row.id === 1 && { deleted_at: 1700000000000, deletion_id: 'd1' }) })
  for (const { id } of ROWS) if (linked || id > 1) put('article_tags', { article_id: id, tag_id: 1 })
  const before = dump() as Rows
  const { method = 'GET', body, headers } = options
  const answer = await server.request(method, `/api${path}`, {
    body,
    caller: withToken ? {} : ({ user: owner, permissions: owner.permissions } as Caller),
    headers: { ...headers, ...(withToken && { authorization: `Bearer ${TOKEN}` }) },
  })
  const changes = changesBetween(before, dump() as Rows).map(
    ({ table, id, from, to }) => `${from ? (to ? 'change' : 'remove') : 'add'} ${table} ${id}`,
  )
  return { ...answer, changes }
}

/** Values that differ from request to request. */
const GENERATED = new Set(['deletedAt', 'deletionId', 'hasMore', 'nextCursor', 'requestId'])

/** Whether everything in a value of the token is in that of the owner: rows, fields, counts and capabilities. */
function isWithin(token: unknown, owner: unknown): boolean {
  if (typeof token === 'boolean') return !token || owner === true
  if (typeof token === 'number' && typeof owner === 'number') return token <= owner
  if (Array.isArray(token))
    return Array.isArray(owner) && token.every(entry => owner.some(other => isSame(entry, other) && isWithin(entry, other)))
  if (typeof token === 'object' && token !== null)
    return (
      typeof owner === 'object'
      && owner !== null
      && Object.entries(token).every(
        ([key, value]) => GENERATED.has(key) || (key in owner && isWithin(value, (owner as Record<string, unknown>)[key])),
      )
    )
  return withoutKey(token) === withoutKey(owner)
}

/** A stored file is text in this table. Its key is random. */
function withoutKey(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^\{"key":"[^"]+"/, '') : value
}

/** Whether two entries of lists stand for the same row or group. */
function isSame(one: unknown, other: unknown): boolean {
  const idOf = (value: unknown) => typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : undefined
  return idOf(one) === idOf(other)
}

const capabilitiesOf = (body: { resources: Record<string, { capabilities: object, fields: object | readonly { name: string }[] }> }) =>
  Object.fromEntries(
    Object.entries(body.resources).map(([name, { capabilities, fields }]) => [
      name,
      { capabilities, fields: Array.isArray(fields) ? fields.map(field => field.name) : Object.keys(fields) },
    ]),
  )

/** The lines of a file by the first column. Its columns depend on what the reader can read. */
const idsOf = (text: string) => text.split(/\r?\n/).slice(1).map(line => /^\d+/.exec(line)?.[0])

function bodyOf(name: string, { body }: Answered): unknown {
  if (name === 'schema') return capabilitiesOf(body)
  return typeof body === 'string' ? idsOf(body) : body
}

/** Whether a scope names an operation: itself, or by a string that its rule requires. */
function isNamed(scope: string, { scopes, articles, tags }: Case): boolean {
  if (scopes!.includes(scope)) return true
  const [resource, operation] = scope.split(':') as ['articles' | 'tags', Operation]
  const names = { articles, tags }[resource]
  let declared: Operation | undefined = operation
  while (declared && RULES[names[declared]] === undefined) declared = FALLBACKS[declared]
  const permission = declared && RULES[names[declared]]
  const strings = [permission].flat().filter(one => typeof one === 'string')
  return strings.some(one => scopes!.includes(one))
}

const RUNS = byTier({ push: 10, full: 150, release: 1500 })

describe('a token', () => {
  const counts = { done: 0, refused: 0 }

  it('does nothing that its owner cannot do now, or that its scopes do not name', { timeout: 1_800_000 }, async () => {
    await fc.assert(fc.asyncProperty(CASE, async (given) => {
      const world = await open(given)
      for (const request of ALL) {
        const token = await send(world, request, true)
        const where = `${request.name}: ${token.status}`
        if (token.status >= 400) {
          counts.refused++
          expect(token.changes, where).toEqual([])
          if (given.scopes !== null) continue
        }
        else counts.done++
        const owner = await send(world, request, false)
        // Without scopes, a token is its owner.
        if (given.scopes === null) expect([token.status, token.changes], where).toEqual([owner.status, owner.changes])
        if (token.status >= 400) continue
        expect(owner.status, where).toBe(token.status)
        expect(owner.changes, where).toEqual(expect.arrayContaining([...token.changes]))
        const [own, whole] = [bodyOf(request.name, token), bodyOf(request.name, owner)]
        expect(isWithin(own, whole), `${where}\n${JSON.stringify(own)}\n${JSON.stringify(whole)}`).toBe(true)
        if (given.scopes !== null)
          for (const scope of request.scopes) expect([where, scope, isNamed(scope, given)]).toEqual([where, scope, true])
      }
    }), { numRuns: RUNS })
    console.info(`tokens: ${counts.done} requests done, ${counts.refused} refused`)
    // A property over refusals only would show nothing.
    expect(Math.min(counts.done, counts.refused)).toBeGreaterThan(RUNS)
  })
})
