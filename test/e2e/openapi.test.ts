/** The OpenAPI documents of the built playground, for six callers, and a client that is generated from one of them. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getTableColumns, is, Table } from 'drizzle-orm'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as schema from '../../playground/server/database/schema'
import { ROUTES } from '../../src/runtime/shared/routes'
import { findProblems, operationsOf, type Document } from '../support/open-api/document'
import { startNewsroom, type Newsroom } from './newsroom/server'
import type * as Client from './openapi/client'

const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
let newsroom: Newsroom

/** The headers of each caller. */
let callers: Record<string, Record<string, string>>

beforeAll(async () => {
  newsroom = await startNewsroom(join(folder, 'first.sqlite'))
  const idOf = (role: string, organization = 1) =>
    String(
      newsroom.rows<{ id: number }>(
        'select id from users where role = ? and organization_id = ? and active = 1 order by id',
        role,
        organization,
      )[0]!.id,
    )
  const as = (id: string) => ({ 'x-demo-user': id })
  callers = {
    'anonymous': {},
    'a reader': as(idOf('reader')),
    'a writer': as(idOf('writer')),
    'an editor': as(idOf('editor')),
    'an admin': as(idOf('admin')),
    'an editor of another organization': as(idOf('editor', 2)),
  }
})

afterAll(async () => {
  await newsroom?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const NAMES = ['anonymous', 'a reader', 'a writer', 'an editor', 'an admin', 'an editor of another organization']

const read = (name: string, from: Newsroom = newsroom) => newsroom && from.request('/api/_openapi.json', { headers: callers[name]! })
const documentOf = async (name: string): Promise<Document> => (await read(name)).body

const wordsOf = (value: unknown) => new Set(JSON.stringify(value).split(/\W+/))

describe.each(NAMES)('the document of %s', (name) => {
  it('is valid', async () => {
    expect(await findProblems(await documentOf(name))).toEqual([])
  })

  it('contains no name of a column that the caller cannot know', async () => {
    const { body: described } = await newsroom.request('/api/_schema', { headers: callers[name]! })
    const known = wordsOf(described)
    const columns = Object.values(schema).filter(value => is(value, Table)).flatMap(table => Object.keys(getTableColumns(table)))
    const hidden = [...new Set(columns)].filter(column => !known.has(column))
    const { paths, components, tags } = await documentOf(name)
    const words = wordsOf([paths, components.schemas, tags])
    expect(hidden).toContain('passwordHash')
    expect(hidden).toContain('tokenHash')
    expect(hidden.filter(column => words.has(column) && !PUBLIC_WORDS.has(column))).toEqual([])
  })

  it('has only operations that exist', async () => {
    const missing: string[] = []
    for (const { method, path } of operationsOf(await documentOf(name))) {
      const write = method === 'GET' ? {} : { method, body: {} }
      const address = path.replace(/\{\w+\}/g, '999999999') + (method === 'GET' ? '' : '?dryRun=true')
      const { status, body } = await newsroom.request(address, { headers: callers[name]!, ...write })
      if (status === 405 || (status === 404 && body.data?.code !== 'NOT_FOUND')) missing.push(`${method} ${path}: ${status}`)
    }
    expect(missing).toEqual([])
  })
})

/** Properties of responses that are also names of columns. */
const PUBLIC_WORDS = new Set([
  'events',
  'event',
  'description',
  'error',
  'secret',
  'kind',
  'userId',
  'recordId',
  'resource',
  'status',
  'key',
  'fields',
  'method',
  'path',
  'type',
  'title',
  'body',
  'name',
  'scopes',
  'prefix',
  'start',
  'at',
  'id',
  'via',
  'ip',
  'reason',
  'before',
  'after',
  'columns',
  'requestId',
  'tokenId',
  'tenantId',
  'rootId',
])

it('is the same text after a start with another database', async () => {
  const second = await startNewsroom(join(folder, 'second.sqlite'))
  for (const name of NAMES) expect((await read(name, second)).headers.get('etag')).toBe((await read(name)).headers.get('etag'))
  expect(JSON.stringify(await documentOf('an admin'))).toBe(JSON.stringify((await read('an admin', second)).body))
  await second.stop()
})

/** Valid for every generated route that is not for one resource, without an effect. */
const BODY = { ids: ['1'], relations: { nothing: { ids: [] } } }

it('contains every generated route that answers an admin', async () => {
  const document = await documentOf('an admin')
  const known = new Set(operationsOf(document).map(({ method, path }) => `${method} ${path}`))
  const resources = (document.tags as { name: string }[]).map(({ name }) => name)
  const { body: described } = await newsroom.request('/api/_schema', { headers: callers['an admin']! })
  // Every body of an update is refused if no field can be updated.
  const hasUpdate = (name: string) => {
    const fields = described.resources[name].fields as Record<string, { writable: { update: boolean } }>
    return Object.values(fields).some(({ writable }) => writable.update)
  }
  const missing: string[] = []
  for (const { method, path } of ROUTES) {
    if (path.includes(':relation')) continue
    for (const resource of path.startsWith('/:resource') ? resources : ['']) {
      const template = `/api${path.replace(':resource', resource).replace(/:(\w+)/g, '{$1}')}`
      if (known.has(`${method} ${template}`) || (method === 'PATCH' && !hasUpdate(resource))) continue
      const { status } = await newsroom.request(`${template.replace(/\{\w+\}/g, '1')}?dryRun=true`, {
        method,
        headers: callers['an admin']!,
        ...(method !== 'GET' && { body: BODY }),
      })
      if (![401, 403, 404, 405].includes(status)) missing.push(`${method} ${template}: ${status}`)
    }
  }
  expect(missing).toEqual([])
})

it('has the routes of the plugins', async () => {
  const ids = operationsOf(await documentOf('an admin')).map(({ operation }) => operation.operationId)
  expect(ids).toEqual(
    expect.arrayContaining([
      'posts.export',
      'posts.import',
      'posts.cover.upload',
      'posts.cover.get',
      'posts.cover.remove',
      'posts.audit-log-history',
      'api.audit-log',
      'api.audit-log-revert',
      'api.activity',
      'api.token-introspect',
      'api.admin',
      'api.openapi',
      'api.reference',
    ]),
  )
})

it('shows the reference page with its policy', async () => {
  const { status, headers, body } = await newsroom.request('/api/_reference', { headers: callers['an editor']! })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers.get('content-security-policy')).toContain('default-src \'none\'')
  expect(body).toContain('<h1>Newsroom')
})

it('is the source of a client that compiles, lists, creates and handles an error', async () => {
  // Packages resolve from the folders of the repository.
  const at = mkdtempSync(fileURLToPath(new URL('openapi/generated-', import.meta.url)))
  try {
    const types = await openapiTypescript(JSON.stringify(await documentOf('an editor')))
    writeFileSync(join(at, 'api.d.ts'), astToString(types))
    cpSync(fileURLToPath(new URL('openapi/client.ts', import.meta.url)), join(at, 'client.ts'))
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.Preserve,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      noUncheckedIndexedAccess: true,
    }
    const program = ts.createProgram([join(at, 'client.ts')], options)
    const messages = ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    expect(messages).toEqual([])

    const { usePosts } = await import(join(at, 'client.ts')) as typeof Client
    const posts = usePosts(newsroom.url, callers['an editor']!)
    expect(await posts.list()).toHaveLength(3)
    expect(await posts.create('From a client')).toEqual({ id: expect.any(Number) })
    expect(await posts.create('')).toEqual({ status: 400, code: 'VALIDATION_FAILED' })
  }
  finally {
    rmSync(at, { recursive: true, force: true })
  }
})
