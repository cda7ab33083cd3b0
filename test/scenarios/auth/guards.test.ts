/** Every guard is needed: without one of them, named requests return what they must not. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ne, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import type { Answered, Caller } from '../../support/server'
import { articles, openDesk, ROWS, told, type Desk } from '../../support/desk'

const core = '../../../src/runtime/server/core'

/** Article 1 is visible to organization 1; 2 is filtered, 3 judged, 4 in the trash, 11 another organization's. */
const PREPARED = `${ROWS} update articles set status = 'secret' where id = 2; update articles set title = 'sealed' where id = 3; update articles set fee = 10; update articles set writer_id = 1;
  insert into article_tags values (3, 1), (4, 1); insert into invoices values (1, 1, 1);`

const auth: Record<'articles' | 'invoices' | 'tags', ResourceAuth> = {
  articles: {
    permissions: { read: true, create: 'write', update: 'write', delete: 'write', viewDeleted: 'chief' },
    listFilter: table => ne((table as typeof articles).status, 'secret'),
    objectLevel: row => (row as { title?: string }).title !== 'sealed',
    fields: { fee: { read: 'hr', write: 'hr' } },
    custom: { publish: { permissions: { read: 'publish' } } },
  },
  tags: { permissions: { read: true, update: true } },
  invoices: { permissions: { update: 'write' } },
}

const WRITER: Caller = { user: { id: 1, organizationId: 1, permissions: ['write'] } }
const READER: Caller = { user: { id: 2, organizationId: 1 } }
const HOMELESS: Caller = { user: { id: 3, permissions: ['write'] } }

interface Cell {
  readonly ask: [method: string, path: string, body?: unknown]
  readonly caller?: Caller
  readonly headers?: Record<string, string>
  /** What of the answer counts; its status and code otherwise. */
  readonly pick?: (answer: Answered) => unknown
  readonly expected: unknown
}

const ids = ({ body }: Answered) => body?.data?.map?.(({ id }: { id: number }) => id)
const rowCells = (row: number): Record<string, Cell> => ({
  [`get ${row}`]: { ask: ['GET', `/api/articles/${row}`], expected: '404 NOT_FOUND' },
  [`update ${row}`]: { ask: ['PATCH', `/api/articles/${row}`, { title: 'taken' }], expected: '404 NOT_FOUND' },
  [`delete ${row}`]: { ask: ['DELETE', `/api/articles/${row}`], expected: '404 NOT_FOUND' },
  [`link ${row}`]: { ask: ['POST', '/api/tags/2/relations/articles', { ids: [row] }], expected: '404 NOT_FOUND' },
  [`refer to ${row}`]: { ask: ['POST', '/api/comments', { articleId: row, text: 'a' }], expected: '400 INVALID_REFERENCE' },
  [`permissions on ${row}`]: {
    ask: ['GET', `/api/articles/permissions?ids=${row}`],
    pick: ({ body }) => body.records[row].canRead,
    expected: false,
  },
})

/** By hand, from the contract. */
const CELLS: Record<string, Cell> = {
  'list': { ask: ['GET', '/api/articles'], pick: ids, expected: [1] },
  'total': { ask: ['GET', '/api/articles'], pick: ({ body }) => body?.meta?.total, expected: 1 },
  'aggregate': { ask: ['GET', '/api/articles/aggregate?aggregate=count'], pick: ({ body }) => body?.data?.[0]?.count, expected: 1 },
  'include': {
    ask: ['GET', '/api/writers/1?include=articles'],
    pick: ({ body }) => body?.articles?.map(({ id }: { id: number }) => id),
    expected: [1],
  },
  'related': { ask: ['GET', '/api/tags/1/relations/articles'], pick: ids, expected: [1] },
  ...rowCells(11),
  ...rowCells(2),
  ...rowCells(3),
  ...rowCells(4),
  'restore what is not in the trash': { ask: ['POST', '/api/articles/1/restore'], expected: '404 NOT_FOUND' },
  'read a field': { ask: ['GET', '/api/articles/1'], pick: ({ body }) => Object.hasOwn(body, 'fee'), expected: false },
  'read a hidden field': { ask: ['GET', '/api/articles/1'], pick: ({ body }) => Object.hasOwn(body, 'secret'), expected: false },
  'filter by a field': { ask: ['GET', '/api/articles?filter[fee]=10'], expected: '400 UNKNOWN_FIELD' },
  'answer a field to a write': {
    ask: ['PATCH', '/api/articles/1', { title: 'a' }],
    pick: ({ body }) => Object.hasOwn(body, 'fee'),
    expected: false,
  },
  'get a field from a hook': {
    ask: ['GET', '/api/articles/1'],
    pick: ({ body }) => Object.hasOwn(body, 'fee') || Object.hasOwn(body, 'secret'),
    expected: false,
  },
  'see a field in the capabilities': {
    ask: ['GET', '/api/articles/permissions'],
    pick: ({ body }) => body.fields.fee.canRead,
    expected: false,
  },
  'write a field': { ask: ['PATCH', '/api/articles/1', { fee: 99 }], expected: '403 FIELD_FORBIDDEN' },
  'create without permission': { ask: ['POST', '/api/articles', { title: 'a' }], caller: READER, expected: '403 FORBIDDEN' },
  'get the tag of an update without permission to read': {
    ask: ['PATCH', '/api/invoices/1', {}],
    pick: ({ status, headers }) => [status, headers.get('etag')],
    expected: [200, null],
  },
  'update without permission': { ask: ['PATCH', '/api/articles/1', { title: 'a' }], caller: READER, expected: '403 FORBIDDEN' },
  'read without permission': { ask: ['GET', '/api/invoices'], expected: '403 FORBIDDEN' },
  'read the trash without permission': { ask: ['GET', '/api/articles?onlyDeleted=true'], caller: READER, expected: '403 FORBIDDEN' },
  'include without permission': { ask: ['GET', '/api/articles?include=invoices'], expected: '403 FORBIDDEN' },
  'see a permission in the capabilities': {
    ask: ['GET', '/api/articles/permissions'],
    caller: READER,
    pick: ({ body }) => body.canUpdate,
    expected: false,
  },
  'pass a named gate': { ask: ['GET', '/named'], expected: '403 FORBIDDEN' },
  'assert a permission': { ask: ['GET', '/asserted'], caller: READER, expected: '403 FORBIDDEN' },
  'scope a query': { ask: ['GET', '/scoped'], pick: ({ body }) => body?.map?.(({ id }: { id: number }) => id), expected: [1, 3] },
  'list without a tenant': { ask: ['GET', '/api/articles'], caller: HOMELESS, expected: '403 TENANT_REQUIRED' },
  'create without a tenant': { ask: ['POST', '/api/articles', { title: 'a' }], caller: HOMELESS, expected: '403 TENANT_REQUIRED' },
  'list the junctions': { ask: ['GET', '/api/_m2m/junctions'], caller: {}, expected: '401 UNAUTHENTICATED' },
  'write from another site': {
    ask: ['PATCH', '/api/articles/1', { title: 'a' }],
    headers: { 'sec-fetch-site': 'cross-site' },
    expected: '403 CROSS_SITE',
  },
}

type Exports = Record<string, unknown>
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the variants take whatever the originals take
type Any = any

/** A scope without some of its conditions, on the rows and on all that is included. */
const without
  = (drop: (condition: Condition) => boolean) =>
    (original: Exports): Exports => ({ applyScope: async (...args: unknown[]) => strip(await (original.applyScope as Any)(...args), drop) })

interface Condition { readonly words: readonly string[], readonly traits: { readonly custom?: boolean } }

function strip(plan: Any, drop: (condition: Condition) => boolean): Any {
  return (
    plan && {
      ...plan,
      scope: plan.scope.filter((condition: Condition) => !drop(condition)),
      include: plan.include.map((entry: Any) => ({
        ...entry,
        plan: strip(entry.plan, drop),
        ...(entry.through && { through: strip(entry.through, drop) }),
      })),
    }
  )
}

function unjudged(plan: Any): Any {
  return {
    ...plan,
    accepts: undefined,
    canRead: undefined,
    include: plan.include.map((entry: Any) => ({ ...entry, plan: unjudged(entry.plan) })),
  }
}

const nothing = async () => {}
const everywhere = (row: number) => ['list', 'total', 'aggregate', 'include', 'related', ...Object.keys(rowCells(row))]

interface Guard {
  readonly file: string
  /** The exports it stands in. */
  readonly exports: readonly string[]
  /** The same exports without it. */
  readonly removed: (original: Exports) => Exports
  /** The cells that must notice. */
  readonly red: readonly string[]
}

const GUARDS: Record<string, Guard> = {
  'tenant': {
    file: 'access/row-scope',
    exports: ['applyScope'],
    removed: without(({ words }) => words.join('?') === '? = ?'),
    red: ['list', 'total', 'aggregate', 'include', ...Object.keys(rowCells(11))],
  },
  'listFilter': {
    file: 'access/row-scope',
    exports: ['applyScope'],
    removed: without(({ traits }) => traits.custom === true),
    red: ['list', 'total', 'aggregate', 'include', ...Object.keys(rowCells(2))],
  },
  'soft delete': {
    file: 'access/row-scope',
    exports: ['applyScope'],
    removed: without(({ words }) => /^\? is (?:not )?null$/.test(words.join('?'))),
    red: [...everywhere(4), 'restore what is not in the trash'],
  },
  'objectLevel': {
    file: 'access/row-scope',
    exports: ['applyScope'],
    removed: original => ({ applyScope: async (...args: unknown[]) => unjudged(await (original.applyScope as Any)(...args)) }),
    red: everywhere(3),
  },
  'scope of a derived plan': {
    file: 'access/row-scope',
    exports: ['within'],
    removed: original => ({ within: (...args: unknown[]) => ({ ...(original.within as Any)(...args), scope: [] }) }),
    red: ['permissions on 11', 'permissions on 2', 'permissions on 4'],
  },
  'scope of custom queries': {
    file: 'access/row-scope',
    exports: ['scopeSql'],
    removed: () => ({ scopeSql: async () => sql`1 = 1` }),
    red: ['scope a query'],
  },
  'field read': {
    file: 'access/fields',
    exports: ['readableFields'],
    removed: original => ({ readableFields: async (call: Any, resource = call.resource) => (original.allFields as Any)(resource) }),
    red: ['read a field', 'read a hidden field', 'filter by a field', 'answer a field to a write', 'get a field from a hook'],
  },
  'field read of rows from hooks': {
    file: 'access/fields',
    exports: ['keepReadable'],
    removed: () => ({ keepReadable: (_resource: unknown, _selection: unknown, record: unknown) => record }),
    red: ['get a field from a hook'],
  },
  'field rules in capabilities': {
    file: 'access/fields',
    exports: ['refusedFields'],
    removed: () => ({ refusedFields: async () => new Set() }),
    red: ['see a field in the capabilities'],
  },
  'fields of a tag': {
    file: 'access/fields',
    exports: ['taggedFields'],
    removed: original => ({ taggedFields: (call: Any) => (original.readableFields as Any)(call, call.resource, 'read') }),
    red: ['get the tag of an update without permission to read'],
  },
  'field write': {
    file: 'access/fields',
    exports: ['unwritableFields'],
    removed: () => ({ unwritableFields: async () => [] }),
    red: ['write a field'],
  },
  'fields that can be named': {
    file: 'access/fields',
    exports: ['requireField'],
    removed: () => ({ requireField: ({ byName, fields }: Any, name: string) => byName.get(name) ?? fields[0] }),
    red: ['filter by a field'],
  },
  'gate': {
    file: 'access/authorize',
    exports: ['authorize'],
    removed: () => ({ authorize: nothing }),
    red: [
      'create without permission',
      'update without permission',
      'read without permission',
      'read the trash without permission',
      'assert a permission',
    ],
  },
  'permissions in capabilities': {
    file: 'access/authorize',
    exports: ['isAuthorized'],
    removed: () => ({ isAuthorized: async () => true }),
    red: ['see a permission in the capabilities'],
  },
  'gate of an endpoint': {
    file: 'access/authorize',
    exports: ['authorizeGate'],
    removed: () => ({ authorizeGate: nothing }),
    red: ['pass a named gate'],
  },
  'permission of a field': {
    file: 'access/authorize',
    exports: ['decide'],
    removed: () => ({ decide: async () => true }),
    red: ['read a field', 'filter by a field', 'write a field'],
  },
  'reference check': {
    file: 'write/references',
    exports: ['checkReferences'],
    removed: () => ({ checkReferences: nothing }),
    red: ['refer to 11', 'refer to 2', 'refer to 3', 'refer to 4'],
  },
  'row of a write': {
    file: 'write/targets',
    exports: ['loadTargets'],
    removed: () => ({ loadTargets: nothing }),
    red: ['update 3', 'delete 3', 'permissions on 11', 'permissions on 2', 'permissions on 3', 'permissions on 4'],
  },
  'required tenant': {
    file: 'access/tenant',
    exports: ['assertTenant'],
    removed: () => ({ assertTenant: () => {} }),
    red: ['list without a tenant'],
  },
  'tenant of new rows': {
    file: 'access/tenant',
    exports: ['requireTenantId'],
    removed: () => ({ requireTenantId: () => 2, assertTenant: () => {} }),
    red: ['create without a tenant'],
  },
  'tenant scope': {
    file: 'access/tenant',
    exports: ['tenantScope'],
    removed: () => ({ tenantScope: () => ({ all: true }) }),
    red: ['list', 'get 11', 'update 11', 'delete 11', 'scope a query'],
  },
  'other sites': {
    file: 'request/csrf',
    exports: ['assertSameSite'],
    removed: () => ({ assertSameSite: () => {} }),
    red: ['write from another site'],
  },
}

/** What these files export besides guards, and why it is none. */
const HELPERS: Record<string, Record<string, string>> = {
  'access/row-scope': {
    narrow: 'adds conditions, never takes one away',
    withReadable: 'adds rows that the caller can read, so that they get a 403; the interference test covers the others',
    withConditions: 'replaces conditions of the request, never the scope',
    withRelated: 'replaces conditions on related rows, whose plans have a scope of their own',
    ownConditions: 'reads conditions',
    readableRows: 'the row scope in computed fields, whose tests read them as several callers',
    scopeClause: 'the scope of the audit log and the feed, whose engine tests draw random rules',
    readRules: 'the row scope of live updates, whose property test compares signals with what the API answers',
    everyRow: 'the server\'s own work, for no caller; its trash condition is what retention.test.ts guards',
  },
  'access/authorize': {
    authorizeAny: 'lets a caller with one of the permissions pass; the handler checks those that it performs',
    canUseRoute: 'asks `authorizeAny` or `authorizeGate`, so that a description of the API agrees with its routes',
    contextFor: 'gives rules the resource and the operation',
    callFor: 'has the context of contextFor',
    can: 'decides for `authorize` and `isAuthorized`',
  },
  'access/fields': {
    select: 'makes a set of fields',
    createSelection: 'makes a set of fields',
    withKey: 'adds the key to a set',
    keyFields: 'the key alone',
    allFields: 'whole rows for rules and hooks',
    allFieldsAnd: 'whole rows and computed fields, for rules',
    defaultFields: 'narrows the readable fields to those that are not lazy',
    fieldsOfTag: 'narrows the readable fields to those of entity tags',
  },
  'access/tenant': { hasTenantId: 'only reports whether `requireTenantId` would throw' },
  'request/csrf': {},
  'write/references': {},
  'write/targets': { targetColumns: 'the columns that object-level rules read', keysClause: 'names rows' },
  'write/row-clauses': {
    rowClauses: 'the row scope and the values that rules read once more, in the statement that writes; the writing tests cover races',
    writeClauses: 'as rowClauses, with the conditions of hooks',
    conditionClauses: 'the conditions of hooks; the engine tests of conditions cover races',
    valuesUnchanged: 'references that need no check as long as the row keeps them; the writing tests cover races',
    rowsUnchanged: 'the values that rules read, for several rows',
    checkUnchanged: 'as rowsUnchanged, for rows that others refer to',
  },
}

let desk: Desk

async function open(): Promise<void> {
  desk = await openDesk({
    rows: PREPARED,
    auth,
    hooks: { articles: { afterGet: record => ({ ...record, ...record.id === 1 && { fee: 10, secret: 'x1' } }) } },
    endpoints: async () => {
      const { assertPermission, createEndpoint, rowScope } = await import('../../../src/runtime/server/utils/index')
      return {
        'GET /named': createEndpoint({ resource: 'articles', operation: 'read', endpointName: 'publish', handler: () => 1 }),
        'GET /asserted': createEndpoint({
          handler: async (ctx) => {
            await assertPermission(ctx, 'articles', 'update')
            return 1
          },
        }),
        'GET /scoped': createEndpoint({
          handler: async ctx =>
            (ctx.db as BetterSQLite3Database)
              .select({ id: articles.id })
              .from(articles)
              .where(await rowScope(ctx, 'articles', articles)),
        }),
      }
    },
  })
}

const EMPTY
  = 'delete from article_tags; delete from invoices; delete from comments; delete from articles; delete from writers; delete from tags;'

async function answer({ ask: [method, path, body], caller = WRITER, headers, pick = told }: Cell): Promise<unknown> {
  desk.client.exec(EMPTY + PREPARED)
  const answered = await desk.request(method, path, { body, caller, ...headers && { headers } })
  try {
    return pick(answered)
  }
  catch {
    return told(answered)
  }
}

/** The cells that answer other than they must: with what must not be answered, not with a server that broke. */
async function red(): Promise<string[]> {
  const found: string[] = []
  for (const [name, cell] of Object.entries(CELLS)) {
    const answered = JSON.stringify(await answer(cell))
    if (answered !== JSON.stringify(cell.expected) && answered !== '"500"') found.push(name)
  }
  return found
}

describe('with every guard', () => {
  beforeAll(open)
  afterAll(() => desk.client.close())

  it.each(Object.entries(CELLS))('%s', async (_name, cell) => {
    expect(await answer(cell)).toEqual(cell.expected)
  })
})

describe('without the guard', () => {
  afterEach(() => {
    for (const { file } of Object.values(GUARDS)) vi.doUnmock(`${core}/${file}.ts`)
    vi.resetModules()
    vi.restoreAllMocks()
    desk.client.close()
  })

  it.each(Object.entries(GUARDS))('"%s": its requests get another response', async (_name, { file, removed, red: named }) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.resetModules()
    vi.doMock(`${core}/${file}.ts`, async (importOriginal) => {
      const original = await importOriginal<Exports>()
      return { ...original, ...removed(original) }
    })
    await open()
    expect(await red()).toEqual(expect.arrayContaining([...named]))
  })
})

describe('the list of guards', () => {
  it.each(Object.keys(HELPERS))('covers every export of %s.ts', async (file) => {
    const exported = Object.keys(await import(/* @vite-ignore */ fileURLToPath(new URL(`${core}/${file}.ts`, import.meta.url))) as Exports)
    const guards = Object.values(GUARDS).filter(guard => guard.file === file).flatMap(guard => guard.exports)
    expect([...new Set([...guards, ...Object.keys(HELPERS[file]!)])].sort()).toEqual(exported.sort())
  })

  it.each(Object.keys(HELPERS))('has no switch in %s.ts: no environment, no global, no debug option', (file) => {
    const path = fileURLToPath(new URL(`${core}/${file}.ts`, import.meta.url))
    expect(existsSync(path)).toBe(true)
    expect(readFileSync(path, 'utf8')).not.toMatch(/process\.|import\.meta|globalThis|\bdebug\b|\bdev\b/i)
  })
})
