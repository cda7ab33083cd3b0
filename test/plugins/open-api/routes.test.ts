/** Routes of plugins and endpoints of the app in the OpenAPI document. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { batch, dataExport, openApi } from '../../../src/runtime/plugins'
import { defineAutoApiPlugin } from '../../../src/runtime/server/plugin/contract'
import { createEndpoint } from '../../../src/runtime/server/utils/endpoint'
import { findProblems, operationsOf, resolve, type Document } from '../../support/open-api/document'
import type { Caller, ServerOptions } from '../../support/server'
import { CALLERS, openMagazine, registrations } from '../../support/magazine'

async function documentOf(caller: Caller, { plugins = [], ...options }: Partial<ServerOptions>): Promise<Document> {
  const server = await openMagazine({ plugins: [openApi({ access: true }), ...plugins], ...options })
  const { status, body } = await server.request('GET', '/api/_openapi.json', { caller })
  expect([status, await findProblems(body)]).toEqual([200, []])
  return body
}

const idsOf = (document: Document) => operationsOf(document).map(({ operation }) => operation.operationId as string)
const find = (document: Document, id: string) => operationsOf(document).find(({ operation }) => operation.operationId === id)

const endpoints = async () => ({
  'POST /api/stories/:id/publish': createEndpoint({
    resource: 'stories',
    operation: 'update',
    dryRun: true,
    body: z.object({ at: z.date(), views: z.bigint().optional() }),
    query: z.object({ notify: z.enum(['all', 'none']), depth: z.coerce.number().optional() }),
    describe: {
      summary: 'Publish a story',
      responses: { 200: { schema: z.object({ at: z.date(), size: z.bigint() }) } },
      errors: { ALREADY_PUBLISHED: 409 },
    },
    handler: () => ({}),
  }),
  'POST /api/stories/publish': (await import('./examples/publish.post')).default,
  'GET /api/stories/:id/secret-plan': createEndpoint({ resource: 'stories', operation: 'delete', handler: () => ({}) }),
  'GET /reports/:year': createEndpoint({
    describe: { summary: 'Report of a year', params: { year: { schema: { type: 'integer' } } } },
    handler: () => ({}),
  }),
  'GET /api/hidden-tool': createEndpoint({ handler: () => ({}) }),
})

describe('endpoints', () => {
  it('are in the documents of the callers who can use them', async () => {
    const ofClerk = idsOf(await documentOf(CALLERS.CLERK, { endpoints }))
    expect(ofClerk.filter(id => /^(?:get|post)\./.test(id))).toEqual([
      'post.api.stories.by-id.publish',
      'post.api.stories.publish',
      'get.reports.by-year',
    ])
    expect(idsOf(await documentOf(CALLERS.CHIEF, { endpoints }))).toContain('get.api.stories.by-id.secret-plan')
    expect(idsOf(await documentOf(CALLERS.NOBODY, { endpoints }))).not.toContain('post.api.stories.by-id.publish')
  })

  it('have the schemas of their body, their query and their response', async () => {
    const document = await documentOf(CALLERS.CLERK, { endpoints })
    const { path, operation } = find(document, 'post.api.stories.by-id.publish')!
    expect(path).toBe('/api/stories/{id}/publish')
    const { schema } = operation.requestBody.content['application/json']
    expect(schema.properties).toMatchObject({ at: { type: 'string', format: 'date-time' }, views: { type: 'string', pattern: '^-?\\d+$' } })
    expect(operation.parameters.map(({ name, required, in: place, $ref }: Document) => $ref ?? [place, name, required])).toEqual([
      ['path', 'id', true], ['query', 'notify', true], ['query', 'depth', undefined], '#/components/parameters/dryRun',
    ])
    expect(operation.responses[200].content['application/json'].schema.properties).toMatchObject({
      at: { format: 'date-time' },
      size: { pattern: '^-?\\d+$' },
    })
    expect(resolve(document, operation.responses[409])['x-codes']).toEqual(['CONFLICT', 'ALREADY_PUBLISHED'])
    expect(find(document, 'get.reports.by-year')!.operation.parameters).toEqual([
      { name: 'year', in: 'path', required: true, schema: { type: 'integer' } },
    ])
  })

  it('have references within their own schemas', async () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node)
      },
    })
    const document = await documentOf(CALLERS.ROOT, {
      endpoints: async () => ({ 'POST /api/tree': createEndpoint({ body: node, describe: { summary: 'Tree' }, handler: () => ({}) }) }),
    })
    expect(find(document, 'post.api.tree')!.operation.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/post.api.tree.body',
    })
    expect(document.components.schemas['post.api.tree.body'].properties.children.items).toEqual({
      $ref: '#/components/schemas/post.api.tree.body',
    })
  })
})

it('has no route that a file of the app replaces', async () => {
  const ids = idsOf(
    await documentOf(CALLERS.ROOT, { taken: ['GET /topics', 'DELETE /stories/:', 'GET /stories/export'], plugins: [dataExport()] }),
  )
  expect(ids).not.toContain('topics.list')
  expect(ids).not.toContain('stories.delete')
  expect(ids).not.toContain('stories.export')
  expect(ids).toContain('topics.get')
  expect(ids).toContain('topics.export')
})

describe('routes of plugins', () => {
  const plugin = defineAutoApiPlugin({
    name: 'tools',
    routes: [
      {
        name: 'words',
        method: 'GET',
        path: '/:resource/:id/words',
        resources: ['stories'],
        operation: 'update',
        handler: () => 1,
        describe: ({ record }) => ({ summary: 'Words', responses: { 200: { schema: { type: 'array', items: record } } } }),
      },
      { method: 'POST', path: '/:resource/count', resources: ['stories'], operation: ['create', 'delete'], handler: () => 1 },
      { method: 'GET', path: '/status', handler: () => 1, describe: { summary: 'Status' }, documentedFor: ctx => ctx.user !== null },
      { method: 'GET', path: '/undescribed', handler: () => 1 },
    ],
  })

  it('are in the documents of the callers who can use them', async () => {
    const own = async (caller: Caller) =>
      idsOf(await documentOf(caller, { plugins: [plugin] })).filter(id => /words|count|tatus|undescribed/.test(id))
    expect(await own(CALLERS.NOBODY)).toEqual([])
    expect(await own(CALLERS.CLERK)).toEqual(['stories.words', 'stories.tools.post.count', 'api.tools.get.status'])
  })

  it('can refer to the record of their resource', async () => {
    const { operation } = find(await documentOf(CALLERS.CLERK, { plugins: [plugin] }), 'stories.words')!
    expect(operation.responses[200].content['application/json'].schema.items).toEqual({ $ref: '#/components/schemas/stories' })
  })

  it('are asked by the named gate that decides about their requests', async () => {
    const gated = registrations.map(registration => registration.name === 'stories'
      ? { ...registration, authorization: { ...registration.authorization, custom: { export: { permissions: { read: 'chief' } } } } }
      : registration) as ServerOptions['registrations']
    const has = async (caller: Caller) =>
      idsOf(await documentOf(caller, { plugins: [dataExport()], registrations: gated })).includes('stories.export')
    expect([await has(CALLERS.CLERK), await has(CALLERS.CHIEF)]).toEqual([false, true])
  })

  it('add media types to a generated route', async () => {
    const { operation } = find(await documentOf(CALLERS.CLERK, { plugins: [dataExport()] }), 'stories.list')!
    expect(Object.keys(operation.responses[200].content)).toEqual(['application/json', 'text/csv', 'application/x-ndjson'])
    expect(operation.parameters.map(({ name }: Document) => name)).toContain('separator')
  })
})

it('a batch has the schema of its steps', async () => {
  const { path, operation } = find(await documentOf(CALLERS.CLERK, { plugins: [batch({ maxSteps: 5 })] }), 'api.batch')!
  const { steps } = operation.requestBody.content['application/json'].schema.properties
  expect([path, steps.maxItems, steps.items.required]).toEqual(['/api/batch', 5, ['resource', 'operation']])
  expect(JSON.stringify(operation.parameters)).toContain('dryRun')
})
