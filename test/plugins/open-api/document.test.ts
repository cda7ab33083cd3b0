/** The OpenAPI document of each caller: it is valid, it is stable, and it contains only what the caller can use. */
import { getTableColumns, type Table } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { openApi } from '../../../src/runtime/plugins'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { createChecker } from '../../support/open-api/check'
import { findProblems, operationsOf, type Document } from '../../support/open-api/document'
import type { Caller } from '../../support/server'
import { CALLERS, openMagazine, registrations, type Magazine } from '../../support/magazine'

type Name = keyof typeof CALLERS

const create = (options: Parameters<typeof openApi>[0] = { access: true }) => openMagazine({ plugins: [openApi(options)] })
const OTHER_CALLER: Caller = { user: { id: 2, organizationId: 2 }, permissions: ['staff'] }

let magazine: Magazine
beforeAll(async () => {
  magazine = await create()
})

const read = (caller: Caller, server: Magazine = magazine, headers = {}) => server.request('GET', '/api/_openapi.json', { caller, headers })

async function documentOf(name: Name): Promise<Document> {
  const { status, body } = await read(CALLERS[name])
  expect(status).toBe(200)
  return body
}

const names = Object.keys(CALLERS) as Name[]

const wordsOf = (text: string) => new Set(text.split(/\W+/))

/** Every name of the magazine: its resources, columns and relations. */
const NAMES = [
  ...new Set(registrations.flatMap(({ name, schema }) => [name, ...Object.keys(getTableColumns(schema as Table))])),
  'author',
  'reviewer',
]

describe.each(names)('the document of %s', (name) => {
  it('is valid', async () => {
    expect(await findProblems(await documentOf(name))).toEqual([])
  })

  it('is the same text on another server', async () => {
    const other = await create()
    expect((await read(CALLERS[name], other)).text).toBe((await read(CALLERS[name])).text)
  })

  it('contains no name that the caller cannot know', async () => {
    const known = wordsOf(JSON.stringify(await magazine.describe(CALLERS[name])))
    const hidden = NAMES.filter(name => !known.has(name))
    const document = await documentOf(name)
    const texts = wordsOf(
      JSON.stringify({ paths: document.paths, components: { ...document.components, responses: {}, parameters: {} }, tags: document.tags }),
    )
    expect(hidden.filter(name => texts.has(name))).toEqual(hidden.filter(name => PROSE.has(name)))
    expect(hidden.length).toBeGreaterThan(name === 'CHIEF' || name === 'ROOT' ? 0 : 5)
  })
})

/** Names that are also properties of every response. */
const PROSE = new Set(['title', 'status', 'meta'])

it('has the operations that a caller can use, with stable ids', async () => {
  expect(operationsOf(await documentOf('NOBODY')).map(({ operation }) => operation.operationId)).toEqual([
    'stories.list', 'stories.aggregate', 'stories.resource-permissions', 'stories.get', 'stories.topics.list',
    'topics.list', 'topics.aggregate', 'topics.resource-permissions', 'topics.get', 'topics.stories.list',
    'letters.create', 'letters.resource-permissions', 'letters.bulk-create',
    'api.permissions', 'api.schema', 'api.openapi',
  ])
})

it('has `include` for the writes that answer records', async () => {
  const document = await documentOf('ROOT')
  const included = operationsOf(document).filter(({ operation }) =>
    (operation.parameters as readonly { readonly name?: string }[] | undefined)?.some(({ name }) => name === 'include'))
    .map(({ operation }) => operation.operationId as string).filter(id => id.startsWith('stories.'))
  expect(included).toEqual(expect.arrayContaining(['stories.create', 'stories.update', 'stories.bulk-create', 'stories.bulk-update']))
  expect(included).not.toContain('stories.delete')
})

it('has conditions on numbers of related records with the extended operators only', async () => {
  const relationsOf = async (server: Magazine) => {
    const { body } = await read(CALLERS.CLERK, server)
    expect(await findProblems(body)).toEqual([])
    const { properties } = body.components.schemas['stories.filter']
    return [properties.topics, properties.author]
  }
  const [topics, author] = await relationsOf(magazine)
  expect(topics).toEqual({ $ref: '#/components/schemas/topics.filter' })
  const config = { multiTenancy: DEFAULT_MULTI_TENANCY, filters: { extended: true } }
  const extended = await openMagazine({ plugins: [openApi({ access: true })], config })
  const number = { type: 'integer', minimum: 0 }
  const comparisons = Object.fromEntries(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'].map(name => [name, number]))
  const compared = { type: 'object', properties: comparisons, additionalProperties: false, minProperties: 1 }
  expect(await relationsOf(extended)).toEqual([
    {
      anyOf: [topics, {
        type: 'object', properties: { $count: { anyOf: [number, compared] } }, required: ['$count'], additionalProperties: false,
      }],
    },
    author,
  ])
})

describe('requests', () => {
  it('responds with 304 to a client that has the document', async () => {
    const first = await read(CALLERS.CLERK)
    const again = await read(CALLERS.CLERK, magazine, { 'if-none-match': first.headers.get('etag')! })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', first.headers.get('etag')])
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(first.headers.get('content-type')).toBe('application/json')
  })

  it('has one document for callers who can use the same', async () => {
    expect((await read(OTHER_CALLER)).headers.get('etag')).toBe((await read(CALLERS.CLERK)).headers.get('etag'))
    expect((await read(CALLERS.CHIEF)).headers.get('etag')).not.toBe((await read(CALLERS.CLERK)).headers.get('etag'))
  })

  it('is for callers with the permission only', async () => {
    const server = await create({ access: ['chief'] })
    const statuses = names.map(async name => (await read(CALLERS[name], server)).status)
    expect(await Promise.all(statuses)).toEqual([401, 401, 403, 200, 200])
  })

  it('has the facts of the options', async () => {
    const servers = [{ url: 'https://api.example.com' }]
    const session = { type: 'apiKey', in: 'cookie', name: 'nuxt-session' } as const
    const server = await create({ access: true, info: { title: 'Magazine', version: '3.0.0' }, servers, securitySchemes: { session } })
    const { body } = await read(CALLERS.CLERK, server)
    expect(body).toMatchObject({
      info: { title: 'Magazine', version: '3.0.0' },
      servers,
      components: { securitySchemes: { session } },
      security: [{ session: [] }],
    })
    expect((await read(CALLERS.NOBODY, server)).body.security).toEqual([{}, { session: [] }])
    expect(await findProblems(body)).toEqual([])
  })
})

/** Requests of every kind, valid and invalid. They run in this order. */
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/api/stories'],
  ['GET', '/api/stories?fields=title'],
  ['GET', '/api/stories?include=author'],
  ['GET', '/api/stories?counts=topics,invoices&fields=title'],
  ['GET', '/api/stories?counts=author'],
  ['GET', '/api/stories?cursor='],
  ['GET', '/api/stories?aggregate=count,sum(words)'],
  ['GET', '/api/stories?groupBy=status'],
  ['GET', '/api/stories/aggregate?aggregate=avg(words),min(title)'],
  ['GET', '/api/stories?page=0'],
  ['GET', '/api/stories?sort=nothing'],
  ['GET', '/api/stories/1'],
  ['GET', '/api/stories/99'],
  [
    'POST',
    '/api/stories',
    {
      title: 'New',
      words: 3,
      size: '9007199254740993',
      price: '1.50',
      publishedAt: '2026-01-01T00:00:00Z',
      meta: { a: 1 },
      cover: 'AA==',
      featured: true,
      rating: 1.5,
    },
  ],
  ['POST', '/api/stories', { title: 1 }],
  ['PATCH', '/api/stories/1', { title: 'Changed' }],
  ['PATCH', '/api/stories/1', { nothing: 1 }],
  ['POST', '/api/stories/bulk', { items: [{ title: 'A', words: 1 }] }],
  ['POST', '/api/stories/bulk', { items: [{}] }],
  ['PATCH', '/api/stories/bulk', { items: [{ id: 1, data: { title: 'B' } }] }],
  ['DELETE', '/api/stories/1?dryRun=true'],
  ['DELETE', '/api/stories/bulk?dryRun=true', { ids: [1] }],
  ['DELETE', '/api/stories/bulk', { ids: [1] }],
  ['POST', '/api/stories/1/restore?dryRun=true'],
  ['POST', '/api/stories/1/restore'],
  ['DELETE', '/api/stories/1'],
  ['POST', '/api/stories/bulk/restore', { ids: [1] }],
  ['GET', '/api/stories/1/relations/topics'],
  ['POST', '/api/stories/1/relations/topics', { ids: [1] }],
  ['GET', '/api/people/1/relations/stories'],
  ['GET', '/api/stories/permissions?ids=1'],
  ['GET', '/api/permissions'],
  ['GET', '/api/_schema'],
  ['GET', '/api/_m2m/junctions'],
  ['GET', '/api/_m2m/detect/stories'],
  ['POST', '/api/letters', { from: 'ann@example.com', text: 'Hello' }],
  ['GET', '/api/_openapi.json'],
  ['GET', '/api/letters'],
  ['GET', '/api/people/1'],
]

describe.each(names)('the answers to %s', (name) => {
  it('have the form that the document describes', async () => {
    const server = await create()
    const checker = createChecker((await read(CALLERS[name], server)).body)
    const problems: string[] = []
    let checked = 0
    for (const [method, path, body] of REQUESTS) {
      const { status, headers, body: received } = await server.request(method, path, { caller: CALLERS[name], body })
      const found = checker.check({ method, path, status, contentType: headers.get('content-type') ?? undefined, body: received })
      if (found) checked++
      // A caller who gets an answer finds the route in the document. The permissions of a resource say nothing about it to others.
      else if (status < 400 && !path.includes('/permissions')) problems.push(`${method} ${path}: ${status}, but it is not in the document`)
      problems.push(...(found ?? []).map(problem => `${method} ${path}: ${status} ${problem}`))
    }
    expect(problems).toEqual([])
    expect(checked).toBeGreaterThan(name === 'HOMELESS' ? 3 : 10)
  })
})

describe('the operations', () => {
  it.each(names)('of %s all exist', async (name) => {
    for (const { method, path } of operationsOf(await documentOf(name))) {
      const { status, body } = await magazine.request(method, path.replace(/\{\w+\}/g, '1'), {
        caller: CALLERS[name],
        ...(method !== 'GET' && { body: {} }),
      })
      const isMissing = status === 405 || (status === 404 && body.data?.code !== 'NOT_FOUND')
      expect([method, path, isMissing]).toEqual([method, path, false])
    }
  })
})
