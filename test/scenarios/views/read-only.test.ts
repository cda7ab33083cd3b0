/** Nobody can write to a view: its routes, descriptions and capabilities have no writes. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataExport, openApi } from '../../../src/runtime/plugins'
import { ROUTES, type Route } from '../../../src/runtime/shared/routes'
import { isObject } from '../../../src/runtime/shared/is-object'
import { operationsOf } from '../../support/open-api/document'
import { outcome } from '../write/world'
import { ADA, openStats, type Stats } from './stats'

const CHIEF = { user: { id: 9, organizationId: 1 }, permissions: ['*'] }

let stats: Stats
beforeAll(async () => {
  stats = await openStats({}, { plugins: [dataExport(), openApi({ access: true })] })
})
afterAll(() => stats.close())

const pathOf = ({ path }: Route) => path.slice(1).replace(':resource', 'authorStats').replace(':relation', 'author').replace(':id', '1')

const WRITES: readonly (readonly [method: string, path: string])[] = [
  ...(ROUTES as readonly Route[])
    .filter(({ operation, path }) => operation && !['read', 'aggregate'].includes(operation) && path.startsWith('/:resource'))
    .flatMap(route => [[route.method, pathOf(route)], ...route.alternative ? [[route.method, `${pathOf(route)}?force=true`]] : []] as
      [string, string][]),
  ['POST', 'authorStats?onConflict=authorId'],
  ['POST', 'authorStats/bulk?onConflict=authorId'],
  ['POST', 'authorStats/import'],
  ['POST', 'authorStats/import?mode=upsert&key=authorId'],
]

it.each(WRITES)('%s /%s returns 405 with the methods that read, for every caller', async (method, path) => {
  for (const caller of [{}, ADA, CHIEF]) {
    const answer = await stats.send(method, path, { name: 'x' }, caller)
    const reads = (await stats.send('OPTIONS', path.split('?')[0]!)).headers.get('allow')
    expect([outcome(answer), answer.headers.get('allow')]).toEqual(['405 METHOD_NOT_ALLOWED', reads])
    expect(reads).toMatch(/^(?:GET, HEAD, )?OPTIONS$/)
  }
})

it('has no capability to write, not even for a caller with every permission', async () => {
  for (const caller of [ADA, CHIEF]) {
    expect((await stats.send('GET', 'authorStats/permissions?ids=1', undefined, caller)).body).toEqual({
      canRead: true, canCreate: false, canUpdate: false, canDelete: false, canAggregate: true, canRestore: false, canPurge: false,
      canViewDeleted: false, fields: {}, records: { 1: { canRead: true, canUpdate: false, canDelete: false } },
    })
  }
})

it('is described as read-only, without bodies and without writable fields', async () => {
  const { body } = await stats.send('GET', '_schema', undefined, CHIEF)
  const { authorStats, authors } = body.resources
  expect([authorStats.readOnly, authorStats.validation, authorStats.primaryKey]).toEqual([true, {}, ['authorId']])
  expect(Object.values(authorStats.fields as object).filter(({ writable }) => writable.create || writable.update)).toEqual([])
  expect(authorStats.fields).toMatchObject({
    authorId: { kind: 'integer', nullable: false }, posts: { kind: 'number', nullable: true }, latest: { kind: 'date' },
    active: { kind: 'boolean' }, name: { kind: 'text', nullable: true },
  })
  expect(authorStats.relations.author).toMatchObject({ kind: 'one', target: 'authors' })
  expect(authors.readOnly).toBeUndefined()
})

it('has only paths that read in the OpenAPI document', async () => {
  const { body } = await stats.send('GET', '_openapi.json', undefined, CHIEF)
  const found = operationsOf(body).filter(({ path }) => path.startsWith('/api/authorStats'))
  expect(new Set(found.map(({ method }) => method.toUpperCase()))).toEqual(new Set(['GET']))
  expect(found.map(({ path }) => path)).toEqual(expect.arrayContaining(['/api/authorStats', '/api/authorStats/{id}', '/api/authorStats/export']))
  const components: Readonly<Record<string, unknown>> = body.components.schemas
  expect(Object.entries(components).filter(([name, schema]) => /authorStats.*(?:Create|Update|Body)/i.test(name) && isObject(schema))).toEqual([])
})

it('is exported', async () => {
  const { status, text } = await stats.send('GET', 'authorStats/export?format=csv&fields=authorId,views&sort=-views', undefined, CHIEF)
  expect([status, text]).toEqual([200, 'authorId,views\r\n1,15\r\n2,7\r\n3,1\r\n4,\r\n'])
})

it('cannot be linked from the other side of its relation', async () => {
  for (const method of ['PUT', 'POST', 'DELETE'])
    expect((await stats.send(method, 'authors/1/relations/writingDays', { ids: ['1,2023-11-14'] })).status).toBeGreaterThanOrEqual(400)
})

it('takes no part in the restore of a group, although it has the columns of the trash', async () => {
  const restored = await stats.send('POST', 'posts/bulk/restore', { deletionId: 'd5' })
  expect([restored.status, restored.body.meta]).toEqual([200, { total: 1, successful: 1, failed: 0 }])
  expect((await stats.send('GET', 'postList/5')).body).toMatchObject({ id: 5, deletedAt: null })
  const deleted = await stats.send('DELETE', 'posts/5')
  expect(deleted.body).toMatchObject({ success: true, softDeleted: true })
  const purged = await stats.send('DELETE', 'posts/bulk?force=true', { deletionId: deleted.body.deletionId })
  expect([purged.status, purged.body.meta.total]).toEqual([200, 1])
})

it('does not stop the writes of its tables, nor their cascades', async () => {
  const created = await stats.send('POST', 'authors', { name: 'Eve', email: 'eve@x.test', organizationId: 1 })
  expect((await stats.send('GET', `authorStats/${created.body.id}`)).body).toMatchObject({ name: 'Eve', posts: 0, views: null })
  expect((await stats.send('DELETE', `authors/${created.body.id}`)).status).toBe(200)
  expect((await stats.send('GET', `authorStats/${created.body.id}`)).status).toBe(404)
})
