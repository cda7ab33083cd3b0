/** The routes of webhooks in the OpenAPI document of each caller. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openApi } from '../../../src/runtime/plugins'
import { findProblems, operationsOf, type Document } from '../../support/open-api/document'
import type { Caller } from '../../support/server'
import { openWebhooks, type WebhookWorld } from './world'

let world: WebhookWorld
beforeEach(async () => {
  world = await openWebhooks({ plugins: [openApi({ access: true })] })
})
afterEach(() => world.close())

async function documentOf(caller: Caller): Promise<Document> {
  const { status, body } = await world.server.request('GET', '/api/_openapi.json', { caller })
  expect([status, await findProblems(body)]).toEqual([200, []])
  return body
}

const find = (document: Document, method: string, path: string) =>
  operationsOf(document).find(one => one.method.toUpperCase() === method && one.path === path)?.operation
const routesOf = (document: Document) =>
  operationsOf(document).filter(({ path }) => /^\/api\/webhook/.test(path)).map(({ method, path }) => `${method.toUpperCase()} ${path}`)

/** The names of the properties of a successful response. */
function propertiesOf(document: Document, operation: ReturnType<typeof find>, status = '200'): string[] {
  const names = (schema: { $ref?: string, allOf?: object[], properties?: object }): string[] => [
    ...Object.keys(schema.properties ?? {}),
    ...(schema.allOf ?? []).flatMap(names),
    ...schema.$ref ? names(document.components.schemas[schema.$ref.split('/').at(-1)!]) : [],
  ]
  return names(operation!.responses[status].content['application/json'].schema)
}

const ACTIONS = ['POST /api/webhooks/{id}/test', 'POST /api/webhooks/{id}/rotate', 'POST /api/webhookDeliveries/{id}/retry']

describe('the document', () => {
  it('has the three routes beside the generated ones, and none that always refuses', async () => {
    const routes = routesOf(await documentOf(world.as(1)))
    expect(routes).toEqual(expect.arrayContaining(ACTIONS))
    expect(routes.filter(route => route.includes('webhookDeliveries'))).toEqual([
      'GET /api/webhookDeliveries', 'GET /api/webhookDeliveries/aggregate', 'GET /api/webhookDeliveries/permissions',
      'DELETE /api/webhookDeliveries/bulk', 'GET /api/webhookDeliveries/{id}', 'DELETE /api/webhookDeliveries/{id}',
      'POST /api/webhookDeliveries/{id}/retry',
    ])
    expect(routes).toEqual(expect.arrayContaining(['POST /api/webhooks', 'PATCH /api/webhooks/{id}', 'DELETE /api/webhooks/{id}']))
  })

  it('has the secret in the responses that issue it, and in no other', async () => {
    const document = await documentOf(world.as(1))
    const secrets = ['secret', 'secretAlreadyIssued']
    expect(propertiesOf(document, find(document, 'POST', '/api/webhooks'), '201')).toEqual(expect.arrayContaining(secrets))
    expect(propertiesOf(document, find(document, 'POST', '/api/webhooks/{id}/rotate'))).toEqual(expect.arrayContaining(secrets))
    for (const method of ['GET', 'PATCH']) {
      const names = propertiesOf(document, find(document, method, '/api/webhooks/{id}'))
      expect(names).toContain('url')
      for (const secret of [...secrets, 'previousSecret']) expect(names).not.toContain(secret)
    }
  })

  it('offers no create or update, which the routes of webhooks refuse, and offers that of other resources', async () => {
    const document = await documentOf(world.as(1))
    const parametersOf = (path: string) => JSON.stringify(find(document, 'POST', path)!.parameters)
    for (const path of ['/api/webhooks', '/api/webhooks/bulk']) expect(parametersOf(path)).not.toContain('onConflict')
    expect(Object.keys(find(document, 'POST', '/api/webhooks')!.responses)).not.toContain('200')
    expect((await world.server.request('POST', '/api/webhooks?onConflict=id', { body: {}, caller: world.as(1) })).status).toBe(400)
    expect(parametersOf('/api/posts')).toContain('onConflict')
    expect(Object.keys(find(document, 'POST', '/api/posts')!.responses)).toContain('200')
  })

  it('says that a test can be refused because of others', async () => {
    expect(Object.keys(find(await documentOf(world.as(1)), 'POST', ACTIONS[0]!.slice(5))!.responses)).toContain('429')
  })

  it('describes a test and a retry as the server responds', async () => {
    const document = await documentOf(world.as(1))
    const { id } = await world.make(1, { url: 'http://127.0.0.1:9/', events: ['posts.*'] })
    const tested = await world.server.request('POST', `/api/webhooks/${id}/test`, { caller: world.as(1) })
    expect(tested.status).toBe(200)
    const known = propertiesOf(document, find(document, 'POST', '/api/webhooks/{id}/test'))
    expect(Object.keys(tested.body as object)).toEqual(expect.arrayContaining(known))
    expect(known).toEqual(expect.arrayContaining(['id', 'status', 'responseStatus', 'error']))
    expect(propertiesOf(document, find(document, 'POST', '/api/webhookDeliveries/{id}/retry')).toSorted())
      .toEqual(Object.keys(tested.body as object).toSorted())
  })

  it('has none of the routes for a caller without the permissions', async () => {
    expect(routesOf(await documentOf({ user: { id: 9, organizationId: 1 }, permissions: ['posts'] }))).toEqual([])
    expect(routesOf(await documentOf({}))).toEqual([])
  })
})
