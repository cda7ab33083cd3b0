/** Writes that were checked before the change only, or in a part of the body only. */
import type { Answered } from '../../../support/server'
import { ids, outcome, type Case } from '../case'

const cause = 'a check before the change, none after it'
const organization = ({ body }: Answered) => body.organizationId
const deletion = ({ body }: Answered) => [body.deletedAt, body.deletionId]
const CSV = { 'content-type': 'text/csv' }

export const WRITES: readonly Case[] = [
  {
    id: 'CVE-2023-39345', system: 'Strapi', cause,
    what: 'A registration could fill private fields.',
    requests: [
      { method: 'POST', path: '/people', body: { name: 'x', role: 'admin' }, is: '403 FIELD_FORBIDDEN' },
      { method: 'POST', path: '/people', body: { name: 'x', salary: 1 }, is: '403 FIELD_FORBIDDEN' },
      { method: 'POST', path: '/people', body: { name: 'x', password: 'mine' }, is: '403 FIELD_FORBIDDEN' },
      { method: 'PATCH', path: '/people/1', body: { role: 'admin' }, is: '403 FIELD_FORBIDDEN' },
      { method: 'PATCH', path: '/people/bulk', body: { items: [{ id: 1, data: { role: 'admin' } }] }, is: '403 BULK_FAILED' },
      { method: 'POST', path: '/people/import', raw: 'name,role\r\nx,admin\r\n', headers: CSV, is: '403 BULK_FAILED' },
      { method: 'POST', path: '/people?onConflict=email', body: { name: 'x', email: 'ada@one', role: 'admin' }, is: '403 FIELD_FORBIDDEN' },
    ],
    control: { as: 'admin', method: 'PATCH', path: '/people/1', body: { role: 'admin' }, is: '200' },
  },
  {
    id: 'a row that moves', system: 'Supabase row security, Hasura', cause,
    what: 'An update moved a row to another tenant, because only the old row was checked.',
    requests: [
      { method: 'PATCH', path: '/posts/1', body: { organizationId: 2 }, is: '200', pick: organization, equals: 1 },
      { method: 'PATCH', path: '/posts/bulk', body: { items: [{ id: 1, data: { organizationId: 2 } }] }, is: '200' },
      { method: 'POST', path: '/posts/import', raw: 'id,organizationId\r\n1,2\r\n', headers: CSV, is: '400 BULK_FAILED' },
    ],
  },
  {
    id: 'an upsert of a foreign row', system: 'Supabase, Prisma, TypeORM', cause,
    what: 'An insert that meets an existing key changed a row that the caller cannot update.',
    requests: [
      { method: 'POST', path: '/people?onConflict=email', body: { name: 'taken', email: 'eve@two' }, is: '409 CONFLICT' },
      { method: 'POST', path: '/people/bulk?onConflict=email', body: { items: [{ name: 'taken', email: 'eve@two' }] }, is: '409 BULK_FAILED' },
      { method: 'POST', path: '/people/import?onConflict=email', raw: 'name,email\r\ntaken,eve@two\r\n', headers: CSV, is: '409 BULK_FAILED' },
    ],
    control: {
      method: 'POST', path: '/people?onConflict=email', body: { name: 'Bobby', email: 'bob@one' }, is: '200', pick: ({ body }) => body.id, equals: 2,
    },
  },
  {
    id: 'CVE-2024-6534', system: 'Directus', cause,
    what: 'An id in the body moved a record to another user.',
    requests: [
      { method: 'PATCH', path: '/posts/1', body: { id: 4, authorId: 1 }, is: '200', pick: ({ body }) => body.id, equals: 1 },
      { method: 'PATCH', path: '/drafts/2', body: { body: 'x' }, is: '404 NOT_FOUND' },
      { method: 'PATCH', path: '/drafts/2', body: { ownerId: 1 }, is: '404 NOT_FOUND' },
    ],
    control: { method: 'PATCH', path: '/drafts/1', body: { body: 'x' }, is: '200' },
  },
  {
    id: 'CVE-2026-25574', system: 'Payload', cause,
    what: 'A row was found by its id alone, in whatever collection the user is.',
    requests: [
      { path: '/drafts/2', is: '404 NOT_FOUND' },
      { method: 'DELETE', path: '/drafts/2', is: '404 NOT_FOUND' },
      { method: 'DELETE', path: '/drafts/bulk', body: { ids: [2] }, is: '404 BULK_FAILED' },
      { as: 'eve', path: '/drafts/1', is: '404 NOT_FOUND' },
      { path: '/drafts', is: '200', pick: ids, equals: [1] },
    ],
  },
  {
    id: 'a foreign key to a hidden row', system: 'Laravel, Rails, Parse Server', cause,
    what: 'A foreign key pointed to a row of another tenant, which an include then showed.',
    requests: [
      { method: 'POST', path: '/posts', body: { title: 'x', authorId: 3 }, is: '400 INVALID_REFERENCE' },
      { method: 'PATCH', path: '/posts/1', body: { authorId: 3 }, is: '400 INVALID_REFERENCE' },
      { method: 'PATCH', path: '/posts/1', body: { authorId: 99 }, is: '400 INVALID_REFERENCE' },
    ],
    control: { method: 'PATCH', path: '/posts/1', body: { authorId: 2 }, is: '200' },
  },
  {
    id: 'two writes at once', system: 'GraphQL servers, Appwrite', cause,
    what: 'Two requests passed the same check before either of them wrote.',
    async play(world) {
      const { headers } = await world.send({ path: '/posts/1' })
      const write = (title: string) => world.send({
        method: 'PATCH', path: '/posts/1', body: { title }, headers: { 'if-match': headers.get('etag')! },
      })
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map(write))
      const late = await write('e')
      return [...answers.map(({ status }) => status).sort(), outcome(late)]
    },
    equals: [200, 412, 412, 412, '412 PRECONDITION_FAILED'],
    writes: true,
  },
  {
    id: 'one refused item of many', system: 'Parse Server, PostgREST', cause,
    what: 'Items before the refused one were written.',
    requests: [
      { method: 'PATCH', path: '/posts/bulk', body: { items: [{ id: 1, data: { title: 'x' } }, { id: 4, data: { title: 'x' } }] }, is: '404 BULK_FAILED' },
      { method: 'DELETE', path: '/posts/bulk', body: { ids: [1, 3] }, is: '404 BULK_FAILED' },
      {
        method: 'POST', path: '/batch', is: '404 BULK_FAILED',
        body: {
          steps: [
            { resource: 'posts', operation: 'update', id: 1, data: { title: 'x' } },
            { resource: 'posts', operation: 'update', id: 4, data: { title: 'x' } },
          ],
        },
      },
    ],
  },
  {
    id: 'a stronger delete by a parameter', system: 'Laravel, Directus', cause,
    what: 'A parameter turned a permitted operation into another one.',
    requests: [
      { method: 'DELETE', path: '/posts/1?force=true', is: '403 FORBIDDEN' },
      { method: 'POST', path: '/posts/5/restore', is: '403 FORBIDDEN' },
      { method: 'POST', path: '/posts/bulk/restore', body: { deletionId: 'd5' }, is: '403 FORBIDDEN' },
      { method: 'DELETE', path: '/posts/bulk?force=true', body: { ids: [1] }, is: '403 FORBIDDEN' },
    ],
    control: { method: 'DELETE', path: '/posts/1', is: '200' },
  },
  {
    id: 'values that the server sets', system: 'Feathers, LoopBack', cause,
    what: 'The body set the time, the author or the id of a deletion.',
    requests: [
      { method: 'PATCH', path: '/posts/1', body: { deletedAt: '2026-01-01T00:00:00Z', deletionId: 'd5' }, is: '200', pick: deletion, equals: [null, null] },
      {
        method: 'PATCH', path: '/posts/1', body: { cover: { key: '../../etc/passwd', name: 'x', type: 'text/html' } }, is: '200',
        pick: ({ body }) => body.cover, equals: null,
      },
      { path: '/posts/1/files/cover', is: '404 NOT_FOUND' },
    ],
  },
]
