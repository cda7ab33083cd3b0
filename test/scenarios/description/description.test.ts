/** The description of the API: its content, and what it leaves out for each caller. */
import { getTableColumns, getTableName } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineAutoApiPlugin, type PluginServer } from '../../../src/runtime/server/define'
import type { AutoApiContext, ResourceRegistration } from '../../../src/runtime/server/registration'
import type { ApiDescription, DescribedResource } from '../../../src/runtime/shared/types/description'
import { describeApi } from '../../../src/runtime/server/utils/description'
import type { Caller } from '../../support/server'
import {
  CALLERS,
  CHIEF,
  CLERK,
  HOMELESS,
  invoices,
  letters,
  NOBODY,
  openMagazine,
  people,
  registrations,
  ROOT,
  stories,
  topics,
  type Magazine,
} from '../../support/magazine'

let magazine: Magazine

beforeAll(async () => {
  magazine = await openMagazine()
})

afterAll(() => magazine.client.close())

async function describeOne(caller: Caller, name: string): Promise<DescribedResource> {
  const { resources } = await magazine.describe(caller)
  expect(Object.keys(resources)).toContain(name)
  return resources[name]!
}

const namesOf = (of: object) => Object.keys(of)
const ORDERED = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$null']

describe('a described resource', () => {
  it('has the label of its metadata and the metadata of the app', async () => {
    expect(await describeOne(CLERK, 'stories')).toMatchObject({ label: 'Articles', metadata: { icon: 'newspaper' } })
    expect((await describeOne(CLERK, 'stories')).metadata).toEqual({ icon: 'newspaper' })
  })

  it('has its name as label without metadata', async () => {
    expect(await describeOne(CLERK, 'people')).toMatchObject({ label: 'People', metadata: {} })
  })

  it('has the facts of a field in the order of the table', async () => {
    const { fields, primaryKey } = await describeOne(CHIEF, 'stories')
    const columns = namesOf(getTableColumns(stories)).filter(name => name !== 'secret')
    expect(namesOf(fields)).toEqual(columns)
    expect(primaryKey).toEqual(['id'])
    expect(fields.title).toEqual({
      label: 'Headline',
      kind: 'text',
      nullable: false,
      readable: true,
      writable: { create: true, update: true },
      required: true,
      hasDefault: false,
      primaryKey: false,
      operators: ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$like', '$null'],
      sortable: true,
      searchable: true,
      aggregates: ['count', 'min', 'max'],
      metadata: { width: 3 },
    })
    expect(fields.authorId).toEqual({
      label: 'Author id',
      kind: 'integer',
      nullable: true,
      readable: true,
      writable: { create: true, update: true },
      required: false,
      hasDefault: false,
      primaryKey: false,
      operators: ORDERED,
      sortable: true,
      searchable: false,
      aggregates: ['count', 'sum', 'avg', 'min', 'max'],
      metadata: {},
      references: { resource: 'people', field: 'id', relation: 'author' },
    })
    expect(fields.status).toMatchObject({ enum: ['draft', 'published'], hasDefault: true, required: false })
    expect(fields.status!.default).toBe('draft')
    expect((await describeOne(NOBODY, 'stories')).fields.status).not.toHaveProperty('default')
    expect(fields.meta).toMatchObject({ kind: 'json', operators: ['$null'], sortable: false, aggregates: ['count'] })
    expect(fields.organizationId).toMatchObject({ role: 'tenant', writable: { create: false, update: false }, required: false })
    expect(fields.createdAt).toMatchObject({
      role: 'createdAt',
      writable: { create: true, update: false },
      required: false,
      hasDefault: true,
    })
    expect(fields.id).toMatchObject({ primaryKey: true, hasDefault: true, writable: { create: false, update: false } })
  })

  it('has relations with the ways in which the caller can change their links', async () => {
    const ofChief = await describeOne(CHIEF, 'stories')
    expect(ofChief.relations).toEqual({
      author: { label: 'Author', kind: 'one', target: 'people', includable: true, filterable: true, countable: false },
      reviewer: { label: 'Reviewer', kind: 'one', target: 'people', includable: true, filterable: true, countable: false },
      topics: {
        label: 'Topics',
        kind: 'manyToMany',
        target: 'topics',
        includable: true,
        filterable: true,
        countable: true,
        linkable: { add: true, remove: true, replace: true },
      },
      invoices: { label: 'Invoices', kind: 'many', target: 'invoices', includable: true, filterable: true, countable: true },
    })
    expect((await describeOne(NOBODY, 'stories')).relations).toEqual({
      topics: {
        label: 'Topics',
        kind: 'manyToMany',
        target: 'topics',
        includable: true,
        filterable: true,
        countable: true,
        linkable: { add: false, remove: false, replace: false },
      },
    })
  })

  it('names its trash and its tenancy', async () => {
    expect(await describeOne(CLERK, 'stories')).toMatchObject({
      tenantScoped: true,
      trash: { cascade: true, reason: true, retentionDays: 30 },
    })
    const { tenantScoped, trash } = await describeOne(CLERK, 'topics')
    expect([tenantScoped, trash]).toEqual([false, undefined])
  })

  it('has the capabilities of the permission routes', async () => {
    for (const caller of Object.values(CALLERS)) {
      const { permissions } = (await magazine.request('GET', '/api/permissions', { caller })).body as {
        permissions: Record<string, { fields: object }>
      }
      const { resources } = await magazine.describe(caller)
      for (const [name, { fields: _, ...allowed }] of Object.entries(permissions))
        expect(resources[name]?.capabilities ?? Object.fromEntries(Object.keys(allowed).map(capability => [capability, false]))).toEqual(
          allowed,
        )
    }
  })

  it('has the limits of the configuration', async () => {
    expect((await magazine.describe(HOMELESS)).limits).toEqual({
      pagination: { default: 'offset', defaultLimit: 20, maxLimit: 100 },
      include: { maxDepth: 3, maxIncludes: 20 },
      filter: { extended: false, conditions: 100, or: 20, in: 500, likes: 8 },
      sort: 20,
      aggregates: { enabled: true, functions: 20, groupBy: 5 },
      bulk: { enabled: true, items: 100, transactional: true },
      body: 1048576,
    })
  })
})

describe('a caller', () => {
  it('sees the resources of which they can use an operation', async () => {
    const names = async (caller: Caller) => namesOf((await magazine.describe(caller)).resources)
    expect(await names(NOBODY)).toEqual(['stories', 'topics', 'letters'])
    expect(await names(HOMELESS)).toEqual(['topics', 'letters'])
    expect(await names(CLERK)).toEqual(['people', 'stories', 'topics', 'letters'])
    expect(await names(CHIEF)).toEqual(['people', 'stories', 'topics', 'invoices', 'letters'])
    expect(await names(ROOT)).toEqual(['people', 'stories', 'topics', 'invoices', 'letters'])
  })

  it('sees a field that they can only write, without operators', async () => {
    const { fields } = await describeOne(CLERK, 'stories')
    expect(fields.note).toMatchObject({
      readable: false,
      writable: { create: true, update: true },
      operators: [],
      sortable: false,
      searchable: false,
      aggregates: [],
    })
    expect(await describeOne(NOBODY, 'stories').then(({ fields }) => fields.note)).toBeUndefined()
  })

  it('sees a field that they can only read, but not in the request bodies', async () => {
    const { fields, validation } = await describeOne(CLERK, 'stories')
    expect(fields.words).toMatchObject({ readable: true, writable: { create: false, update: false }, required: false })
    expect(namesOf(validation.create!.properties!)).not.toContain('words')
    expect(validation.create!.required).toEqual(['title'])
    expect((await describeOne(CHIEF, 'stories')).validation.create!.required).toEqual(['title', 'words'])
  })

  it('who can only create sees the columns of the response, without operators', async () => {
    const { fields, capabilities } = await describeOne(NOBODY, 'letters')
    expect([capabilities.canCreate, capabilities.canRead]).toEqual([true, false])
    const { body } = await magazine.request('POST', '/api/letters', { caller: NOBODY, body: { from: 'bob@example.com', text: 'Hi' } })
    expect(namesOf(fields)).toEqual(namesOf(body))
    for (const { operators, sortable, searchable, aggregates } of Object.values(fields))
      expect([operators, sortable, searchable, aggregates]).toEqual([[], false, false, []])
  })

  it('who can only delete learns no column', async () => {
    const { request, client } = await openMagazine({
      registrations: [{ name: 'topics', schema: topics, authorization: { permissions: { delete: true } } }],
    })
    const { body } = await request('GET', '/api/_schema')
    expect(body.resources.topics).toMatchObject({
      capabilities: { canDelete: true, canRead: false },
      fields: {},
      primaryKey: [],
      relations: {},
      validation: {},
    })
    client.close()
  })

  it('does not see disabled operations', async () => {
    const disabled = registrations.map(registration =>
      registration.name === 'stories' ? { ...registration, disabled: ['create', 'aggregate'] as const } : registration,
    )
    const { request, client } = await openMagazine({ registrations: disabled })
    const { body } = await request('GET', '/api/_schema', { caller: CHIEF })
    const { capabilities, validation, fields } = body.resources.stories
    expect([
      capabilities.canCreate,
      capabilities.canAggregate,
      validation.create,
      fields.title.writable.create,
      fields.title.aggregates,
    ]).toEqual([false, false, undefined, false, []])
    client.close()
  })
})

describe('the description', () => {
  const ALL_TABLES = { people, stories, topics, invoices, letters }

  /** Every name and text, keys included. */
  function textsIn(value: unknown): string[] {
    if (typeof value === 'string') return [value]
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)])
  }

  const wordsIn = (description: ApiDescription) => new Set(textsIn(description).flatMap(text => [text, ...text.split(/\W+/)]))

  it('never names a hidden column, a database name or a row', async () => {
    for (const caller of Object.values(CALLERS)) {
      const words = wordsIn(await magazine.describe(caller))
      const databaseNames = Object.values(ALL_TABLES)
        .flatMap(table => [getTableName(table), ...Object.values(getTableColumns(table)).map(({ name }) => name)])
        .filter(name => name.includes('_'))
      for (const name of ['secret', 'passwordHash', 'nobody', 'locked', 'storyTopics', 'Ann', 'Zoe', 'Elsewhere', ...databaseNames])
        expect(words).not.toContain(name)
    }
  })

  it.each([
    [
      'an anonymous caller',
      NOBODY,
      ['people', 'invoices', 'author', 'authors', 'reviewer', 'reviewerId', 'margin', 'note', 'salary', 'amount', 'hr'],
    ],
    ['a clerk', CLERK, ['invoices', 'reviewer', 'margin', 'salary', 'amount', 'hr']],
  ])('never names what %s can neither read nor write', async (_, caller, names) => {
    const words = wordsIn(await magazine.describe(caller))
    for (const name of names) expect(words).not.toContain(name)
    const ofChief = wordsIn(await magazine.describe(CHIEF))
    for (const name of names.filter(name => name !== 'authors' && name !== 'note')) expect(ofChief).toContain(name)
  })

  it('does not name the target of a foreign key that the caller cannot read', async () => {
    const { fields } = await describeOne(NOBODY, 'stories')
    expect(fields.authorId).toMatchObject({ readable: true })
    expect(fields.authorId!.references).toBeUndefined()
    expect((await describeOne(CLERK, 'stories')).fields.reviewerId).toMatchObject({
      readable: false,
      references: { resource: 'people', field: 'id' },
    })
  })

  it('is equal for the same caller after descriptions for other callers', async () => {
    const before = await magazine.describe(NOBODY)
    for (const caller of [ROOT, CHIEF, CLERK, HOMELESS]) await magazine.describe(caller)
    expect(await magazine.describe(NOBODY)).toEqual(before)
  })

  it('runs no statement', async () => {
    const { client, request } = await openMagazine()
    const prepare = vi.spyOn(client, 'prepare')
    expect((await request('GET', '/api/_schema', { caller: CHIEF })).status).toBe(200)
    expect(prepare).not.toHaveBeenCalled()
    expect((await request('GET', '/api/stories', { caller: CHIEF })).status).toBe(200)
    expect(prepare).toHaveBeenCalled()
    client.close()
  })

  it('hides a resource whose rules throw', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const failing = () => {
      throw new Error('down')
    }
    const { request, client } = await openMagazine({
      registrations: [
        { name: 'topics', schema: topics, authorization: { permissions: { read: failing } } },
        {
          name: 'people',
          schema: people,
          authorization: { permissions: { read: true }, fields: { salary: { read: failing, write: failing } } },
        },
      ] as ResourceRegistration[],
    })
    const { body, status } = await request('GET', '/api/_schema', { caller: CLERK })
    expect([status, namesOf(body.resources), namesOf(body.resources.people.fields)]).toEqual([
      200,
      ['people'],
      ['id', 'organizationId', 'name', 'passwordHash'],
    ])
    client.close()
    vi.restoreAllMocks()
  })

  it('of one resource decides only about this resource and those that it refers to', async () => {
    const rule = vi.fn(() => true)
    const ruled = registrations.map(({ authorization, ...registration }) => ({
      ...registration,
      authorization: { ...authorization, permissions: { read: rule } },
    }))
    const { request, client } = await openMagazine({ registrations: ruled })
    const { body } = await request('GET', '/api/_schema?resources=letters', { caller: CLERK })
    expect([namesOf(body.resources), rule.mock.calls.length]).toEqual([['letters'], 2])
    client.close()
  })

  it('calls the rule of a field once per operation, and no rule of a resource that the caller cannot use', async () => {
    const rule = vi.fn((ctx: AutoApiContext) => ctx.operation === 'read')
    const unused = vi.fn(() => true)
    const { request, client } = await openMagazine({
      registrations: [
        {
          name: 'stories',
          schema: stories,
          authorization: { permissions: { read: true, create: true, update: true }, fields: { margin: { read: rule, write: rule } } },
        },
        {
          name: 'people',
          schema: people,
          authorization: { permissions: { read: 'nobody' }, fields: { salary: { read: unused, write: unused } } },
        },
      ] as ResourceRegistration[],
    })
    const { body } = await request('GET', '/api/_schema', { caller: CLERK })
    expect(rule.mock.calls.map(([ctx]) => ctx.operation).toSorted()).toEqual(['create', 'read', 'update'])
    expect(unused).not.toHaveBeenCalled()
    expect(body.resources.stories.fields.margin).toMatchObject({ readable: true, writable: { create: false, update: false } })
    client.close()
  })
})

describe('the JSON Schemas of request bodies', () => {
  it('describe the wire format of generated bodies', async () => {
    const { create, update } = (await describeOne(CHIEF, 'stories')).validation
    const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })
    expect(create).toMatchObject({ type: 'object', additionalProperties: false, required: ['title', 'words'] })
    expect(create!.properties).toMatchObject({
      title: { type: 'string', maxLength: 80 },
      status: { type: 'string', enum: ['draft', 'published'] },
      words: { type: 'integer' },
      rating: orNull({ type: 'number' }),
      price: orNull({ type: 'string', pattern: '^-?\\d+(?:\\.\\d+)?$' }),
      size: orNull({ type: 'string', pattern: '^-?\\d+$' }),
      meta: {},
      cover: orNull({ type: 'string', contentEncoding: 'base64' }),
      featured: orNull({ type: 'boolean' }),
      publishedAt: orNull({ type: 'string', format: 'date-time' }),
    })
    expect(update!.required).toBeUndefined()
    expect(namesOf(create!.properties!)).toEqual([...namesOf(update!.properties!), 'createdAt'])
  })

  it('list exactly the keys that a write accepts', async () => {
    const { create } = (await describeOne(CHIEF, 'stories')).validation
    const samples: Record<string, unknown> = {
      authorId: 1,
      reviewerId: 1,
      title: 'x',
      status: 'draft',
      words: 1,
      rating: 1.5,
      price: '1.50',
      size: '1234567890123456789',
      meta: { a: 1 },
      cover: 'AA==',
      featured: true,
      publishedAt: '2026-01-01T00:00:00Z',
      margin: 1,
      note: 'n',
      createdAt: '2026-01-01T00:00:00Z',
    }
    expect(namesOf(samples).toSorted()).toEqual(namesOf(create!.properties!).toSorted())
    expect((await magazine.request('POST', '/api/stories', { caller: CHIEF, body: samples })).status).toBe(201)
    for (const name of create!.required!) {
      const { [name]: _, ...rest } = samples
      expect((await magazine.request('POST', '/api/stories', { caller: CHIEF, body: rest })).body.data.code).toBe('VALIDATION_FAILED')
    }
    expect((await magazine.request('POST', '/api/stories', { caller: CHIEF, body: { ...samples, other: 1 } })).status).toBe(400)
  })

  it('describe the input of a schema of the app, without columns that clients cannot write', async () => {
    const { fields, validation } = await describeOne(NOBODY, 'letters')
    expect(validation).toEqual({ create: {
      type: 'object',
      properties: {
        from: { type: 'string', format: 'email', pattern: expect.any(String) },
        text: { type: 'string', maxLength: 500 },
        arrivedAt: { type: 'string', format: 'date-time' },
      },
      required: ['from', 'text'],
    } })
    expect(fields.text).toMatchObject({ required: true, writable: { create: true, update: false } })
    // The schema sets `email` from `from`, so the key `email` of a body has no effect.
    expect(fields.email).toMatchObject({ required: false, writable: { create: false, update: false } })
    expect((await magazine.request('POST', '/api/letters', { body: { from: 'ann@example.com', text: 'Hello' } })).status).toBe(201)
  })

  /** The bodies of `people`, whose column `salary` the caller cannot write, and whose column `passwordHash` is hidden. */
  async function bodiesWith(validation: object, caller: Caller = CLERK): Promise<DescribedResource['validation']> {
    const { request, client } = await openMagazine({
      registrations: registrations.map(registration =>
        registration.name === 'people' ? { ...registration, validation } : registration,
      ) as ResourceRegistration[],
    })
    const { body } = await request('GET', '/api/_schema', { caller })
    client.close()
    return body.resources.people.validation
  }

  const standard = (jsonSchema?: object) => ({
    '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }), ...(jsonSchema && { jsonSchema }) },
  })

  it('of other libraries come from their own conversion', async () => {
    const input = vi.fn(() => ({
      $schema: 'x',
      type: 'object',
      properties: { name: { type: 'string', minLength: 2 } },
      required: ['name'],
    }))
    expect(await bodiesWith({ update: standard({ input }) })).toEqual({
      update: { type: 'object', properties: { name: { type: 'string', minLength: 2 } }, required: ['name'] },
    })
    expect(input).toHaveBeenCalledWith({ target: 'draft-2020-12' })
  })

  it('of a schema that has no conversion are absent', async () => {
    expect(await bodiesWith({ update: standard() })).toEqual({})
  })

  it('are absent, with a warning, if the conversion fails', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    expect(await bodiesWith({ update: standard({ input: () => {
      throw new Error('no conversion')
    } }) })).toEqual({})
    expect(warn.mock.calls[0]![0]).toContain('`people.validation.update` cannot be converted to JSON Schema')
    vi.restoreAllMocks()
  })

  it.each([
    ['a union', z.union([z.object({ name: z.string(), salary: z.number() }), z.object({ passwordHash: z.string() })])],
    [
      'an intersection',
      z.intersection(z.object({ name: z.string() }), z.object({ salary: z.number(), passwordHash: z.string().optional() })),
    ],
    [
      'a recursive schema',
      z
        .object({
          name: z.string(),
          salary: z.number(),
          get passwordHash() {
            return z.object({ salary: z.number() }).optional()
          },
        })
        .meta({ id: 'person', examples: [{ salary: 3 }] }),
    ],
    ['a record', z.record(z.enum(['name', 'salary', 'passwordHash']), z.string())],
    [
      'JSON Schema keywords',
      standard({
        input: () => ({
          type: 'object',
          properties: { name: {}, salary: {}, passwordHash: {} },
          required: ['salary', 'name'],
          default: { salary: 1 },
          examples: [{ passwordHash: '' }],
          const: { salary: 1 },
          patternProperties: { '^salary$': {} },
          propertyNames: { enum: ['salary', 'passwordHash'] },
          dependentRequired: { name: ['salary'], salary: ['name'] },
          dependentSchemas: { passwordHash: {} },
          if: { properties: { salary: {} } },
          then: { required: ['passwordHash'] },
          not: { anyOf: [{ required: ['salary'] }] },
          $defs: { a: { properties: { passwordHash: {} } } },
          dependencies: { salary: ['name'] },
        }),
      }),
    ],
  ])('name no column that the caller cannot write, in %s', async (_, update) => {
    const bodies = await bodiesWith({ update })
    expect(bodies.update).toBeDefined()
    expect(JSON.stringify(bodies)).not.toMatch(/salary|passwordHash/)
  })

  it('keep a property of a nested object that has the name of a hidden column', async () => {
    const bodies = await bodiesWith({ update: z.object({ name: z.object({ passwordHash: z.string() }) }) })
    expect(bodies.update!.properties!.name).toMatchObject({ properties: { passwordHash: { type: 'string' } } })
  })
})

describe('describeApi', () => {
  it('returns in a hook the description that the route returns', async () => {
    const described: ApiDescription[] = []
    const hooked = registrations.map(registration =>
      registration.name === 'stories'
        ? {
            ...registration,
            hooks: {
              beforeUpdate: async (_id: unknown, _data: unknown, ctx: AutoApiContext) => void described.push(await describeApi(ctx)),
            },
          }
        : registration,
    ) as ResourceRegistration[]
    const { request, client } = await openMagazine({ registrations: hooked })
    expect((await request('PATCH', '/api/stories/1', { caller: CLERK, body: { title: 'New' } })).status).toBe(200)
    const { body } = await request('GET', '/api/_schema', { caller: CLERK })
    expect(JSON.parse(JSON.stringify(described[0]))).toEqual(body)
    expect(() => Object.assign(described[0]!.resources.stories!.fields.title!, { label: 'x' })).toThrow(TypeError)
    client.close()
  })

  it('describes the named resources, and ignores names of resources that the caller cannot use', async () => {
    const ofRoute = async (query: string) =>
      namesOf((await magazine.request('GET', `/api/_schema?${query}`, { caller: CLERK })).body.resources)
    expect(await ofRoute('resources=topics,people')).toEqual(['people', 'topics'])
    expect(await ofRoute('resources=topics&resources=invoices,locked,nothing,constructor')).toEqual(['topics'])
    expect(await ofRoute('resources=')).toEqual([])
    const { body } = await magazine.request('GET', '/api/_schema?resources=stories', { caller: CLERK })
    expect(body.resources.stories).toEqual(await describeOne(CLERK, 'stories'))
  })

  it('serves a custom endpoint of the docs', async () => {
    const endpoints = async () => ({ 'GET /headline-form': (await import('./examples/headline-form.get')).default })
    const { request, client } = await openMagazine({ endpoints })
    const { body } = await request('GET', '/headline-form', { caller: CLERK })
    expect(body).toContainEqual({ name: 'title', label: 'Headline', kind: 'text', required: true })
    expect(body.map(({ name }: { name: string }) => name)).not.toContain('words')
    expect((await request('GET', '/headline-form', { caller: NOBODY })).body).toEqual([])
    client.close()
  })

  it('is passed to the setup of plugins', async () => {
    const describer = () => {
      let server: PluginServer | undefined
      return defineAutoApiPlugin({
        name: 'describer',
        setup: (given) => {
          server = given
        },
        routes: [{ method: 'GET', path: '/described', handler: ctx => server!.describe(ctx) }],
      })
    }
    const { request, client } = await openMagazine({ plugins: [describer] })
    const { body } = await request('GET', '/api/described', { caller: CLERK })
    expect(body).toEqual((await request('GET', '/api/_schema', { caller: CLERK })).body)
    expect(namesOf(body.resources)).toContain('people')
    client.close()
  })

  it('refuses an object that is no context', async () => {
    expect(() => describeApi({} as AutoApiContext)).toThrow('[auto-api] This object is not a context of the API.')
  })
})
