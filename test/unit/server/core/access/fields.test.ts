/** Sets of fields: which a caller can read, and what responses, tags and hooks get of them. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { keepReadable, keyFields, readableFields, refusedFields, select, withKey } from '../../../../../src/runtime/server/core/access/fields'
import type { FieldRule, ResourceAuth } from '../../../../../src/runtime/server/registration'
import { ANN, CHIEF, openDesk, VISITOR, type Desk, type DeskOptions } from '../../../../support/desk'
import { resourceOf, sqlite } from '../../../../support/tables'

let desk: Desk
afterEach(() => desk?.client.close())
const everything = { read: true, create: true, update: true, delete: true } as const
const open = async (fields: Record<string, FieldRule | undefined>, options: DeskOptions = {}) =>
  (desk = await openDesk({ auth: { articles: { permissions: everything, fields } as ResourceAuth }, ...options }))
const get = async (path: string, caller = ANN) => desk.request('GET', `/api/articles${path}`, { caller })

describe('the readable fields', () => {
  it('are those of each caller, even if callers can read equally many', async () => {
    await open({ fee: { read: ctx => ctx.user !== null }, slug: { read: ctx => ctx.user === null } })
    const [ann, visitor] = [(await get('/1')).body, (await get('/1', VISITOR)).body]
    expect([ann.fee, 'slug' in ann, visitor.slug, 'fee' in visitor]).toEqual([10, false, 's1', false])
    expect([(await get('?fields=id,fee')).body.data[0], (await get('?fields=id,title')).body.data[0]]).toEqual([
      { id: 1, fee: 10 },
      { id: 1, title: 'one' },
    ])
  })

  it('are decided once per request and operation', async () => {
    const read = vi.fn(() => true)
    await open({ fee: { read } })
    await get('?include=writer&filter[fee]=10&sort=fee&aggregate=max(fee)&fields=fee')
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('can depend on the operation: a write returns other fields than a get, with the tag of the get', async () => {
    await open({ fee: { read: ctx => ctx.operation === 'read' } })
    const { headers, body } = await get('/1')
    expect(body.fee).toBe(10)
    const written = await desk.request('PATCH', '/api/articles/1', {
      body: { title: 'one' },
      headers: { 'if-match': headers.get('etag')! },
      caller: ANN,
    })
    const revisionOf = (tag: string | null) => tag?.slice(1, 17)
    expect([written.status, 'fee' in written.body, revisionOf(written.headers.get('etag'))]).toEqual([
      200,
      false,
      revisionOf(headers.get('etag')),
    ])
  })

  it('contain those whose rule is undefined or says nothing about reading', async () => {
    await open({ fee: undefined, slug: { write: false }, status: {} })
    expect((await get('/1')).body).toMatchObject({ fee: 10, slug: 's1', status: 'open' })
    expect((await desk.request('PATCH', '/api/articles/1', { body: { fee: 5, status: 'done' }, caller: ANN })).status).toBe(200)
    expect((await desk.request('PATCH', '/api/articles/1', { body: { slug: 'x' }, caller: CHIEF })).status).toBe(403)
  })

  it('are all that are not hidden, for a table without authorization, such as that of links', async () => {
    const resource = resourceOf({ schema: sqlite.users, hiddenFields: ['passwordHash'] })
    const call = { resource, ctx: { operation: 'read' }, memo: new Map() } as unknown as Parameters<typeof readableFields>[0]
    expect(readableFields(call)).toMatchObject({
      fields: [{ name: 'id' }, { name: 'organizationId' }, { name: 'email' }, { name: 'handle' }],
    })
    expect(await refusedFields(call, resource, 'write')).toEqual(new Set())
  })

  it('are covered by the tag of a record only if the caller can read the resource', async () => {
    desk = await openDesk({ auth: { articles: { permissions: { update: true } } } })
    const { status, headers } = await desk.request('PATCH', '/api/articles/1', { body: { title: 'x' }, caller: ANN })
    expect([status, headers.get('etag')]).toEqual([200, null])
  })
})

describe('a record that a hook returns', () => {
  it('loses what the caller cannot read, and keeps what the hook added', async () => {
    await open(
      { fee: { read: 'hr' } },
      { hooks: { articles: { afterGet: (record: object) => ({ ...record, fee: 99, secret: 'x', stars: 5 }) } as never } },
    )
    const { body } = await get('/1')
    expect([body.stars, body.title, 'fee' in body, 'secret' in body]).toEqual([5, 'one', false, false])
  })

  it('is the same for code that calls it', () => {
    const resource = resourceOf(sqlite.posts)
    const readable = select(resource, ({ name }) => name === 'title')
    expect(keepReadable(resource, readable, { title: 'a', score: 1, stars: 5 })).toEqual({ title: 'a', stars: 5 })
  })
})

describe('a selection', () => {
  const namesOf = ({ fields, byName }: ReturnType<typeof select>) => {
    expect([...byName.keys()]).toEqual(fields.map(({ name }) => name))
    return fields.map(({ name }) => name).join()
  }

  it('has the fields in the order of the table', () => {
    const resource = resourceOf(sqlite.posts)
    expect(namesOf(select(resource, ({ name }) => ['title', 'id', 'score'].includes(name)))).toBe('id,title,score')
    expect(namesOf(keyFields(resource))).toBe('id')
    expect(namesOf(select(resource, () => true))).toBe([...resource.fields.keys()].join())
  })

  it('gets the key, and nothing else, to identify its rows', () => {
    const resource = resourceOf(sqlite.posts)
    expect(namesOf(withKey(resource, select(resource, ({ name }) => name === 'title')))).toBe('id,title')
    expect(namesOf(withKey(resource, keyFields(resource)))).toBe('id')
  })

  it('is the same object for the same fields, for the 500 sets that were asked last', () => {
    const resource = resourceOf(sqlite.posts)
    const fields = [...resource.fields.values()].slice(0, 10)
    const pick = (set: number) => select(resource, field => (set >> fields.indexOf(field) & 1) === 1 && fields.includes(field))
    const first = pick(0)
    for (let set = 0; set < 500; set++) expect(pick(set)).toBe(pick(set))
    expect(pick(0)).toBe(first)
    for (let set = 501; set < 1001; set++) expect(pick(set)).toBe(pick(set))
    expect(pick(0)).not.toBe(first)
    expect(namesOf(pick(500))).toBe(fields.filter((_, index) => 500 >> index & 1).map(({ name }) => name).join())
    // Another resource has sets of its own.
    const other = resourceOf(sqlite.posts)
    expect(select(other, () => true)).not.toBe(select(resource, () => true))
  })
})
