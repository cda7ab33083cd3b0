/** On every engine: a request with an idempotency key takes effect once, however often, in parallel and on how many servers it is sent. */
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../support/server'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openKeys, type KeyWorld } from './support/keys'
import { isFull } from '../support/tiers'

const ADA: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['write', 'pay'] }
const BEN: Caller = { user: { id: 2, organizationId: 1 }, permissions: ['write', 'pay'] }
const THEIRS: Caller = { user: { id: 1, organizationId: 2 }, permissions: ['write', 'pay'] }

const PAST = { sqlite: '1000', pg: '\'2020-01-01\'', mysql: '\'2020-01-01\'' }

let onCreated: () => unknown = () => {}
let onBefore: () => unknown = () => {}

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a request with a key', () => {
    let world: KeyWorld
    beforeAll(async () => {
      world = await openKeys(engineCase, { beforeCreate: () => onBefore(), afterCreate: () => onCreated() })
    })
    beforeEach(() => world.opened.exec('delete from idempotency_keys; delete from notes'))
    afterEach(() => {
      onCreated = () => {}
      onBefore = () => {}
    })
    afterAll(() => world?.opened.close())

    const count = async (sql: string) => Number((await world.opened.all(sql))[0]![0])
    const notes = () => count('select count(*) from notes')
    const send = (
      method: string,
      path: string,
      body: unknown,
      key: string | undefined,
      { caller = ADA, server = 0, headers = {} }: { caller?: Caller, server?: number, headers?: Record<string, string> } = {},
    ) =>
      world.servers[server]!.request(method, `/api/${path}`, {
        body,
        caller,
        headers: { ...(key !== undefined && { 'idempotency-key': key }), ...headers },
      })
    const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed')

    it('creates one row for 100 parallel requests on two servers, and answers all of them equally', async () => {
      const responses = await Promise.all(
        Array.from({ length: 100 }, (_, index) => send('POST', 'notes', { title: 'once' }, 'k', { server: index % 2 })),
      )
      expect(await notes()).toBe(1)
      expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(responses[0]!.status).toBe(201)
      expect(responses.filter(response => replayed(response) === 'true')).toHaveLength(99)
      expect(new Set(responses.map(({ headers }) => headers.get('location'))).size).toBe(1)
    })

    it.each<[string, string, unknown, number]>([
      ['one record', 'notes?onConflict=title', { title: 'once' }, 201],
      ['several records', 'notes/bulk?onConflict=title', { items: [{ title: 'once' }, { title: 'there', pay: 'new' }] }, 200],
      ['records as they are', 'notes/bulk?onConflict=title', { items: [{ title: 'there' }] }, 200],
    ])('upserts %s once for 20 parallel requests on two servers, and answers all of them equally', async (_, path, body, status) => {
      await send('POST', 'notes', { title: 'there' }, undefined)
      const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => send('POST', path, body, 'k', { server: index % 2 })))
      expect(new Set(responses.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`${status} ${responses[0]!.text}`]))
      expect(responses.filter(response => replayed(response) === 'true').length).toBeGreaterThanOrEqual(18)
      expect(await count('select count(*) from notes where title = \'once\'')).toBe(JSON.stringify(body).includes('once') ? 1 : 0)
      expect((await send('POST', path, { title: 'other', items: [] }, 'k')).body.data.code).toBe('IDEMPOTENCY_MISMATCH')
    })

    it.each<[string, string, string, unknown]>([
      ['an update', 'PATCH', 'notes/:id', { title: 'new' }],
      ['a delete', 'DELETE', 'notes/:id', undefined],
      ['a purge', 'DELETE', 'notes/:id?force=true', undefined],
      ['a bulk create', 'POST', 'notes/bulk', { items: [{ title: 'x' }, { title: 'y' }] }],
      ['a bulk update', 'PATCH', 'notes/bulk', { items: [{ id: ':id', data: { title: 'z' } }] }],
      ['a bulk delete', 'DELETE', 'notes/bulk', { ids: [':id'] }],
    ])('answers %s again with the same response, also if the stored response is lost', async (what, method, path, body) => {
      const { id } = (await send('POST', 'notes', { title: 'one' }, undefined)).body
      const fill = <T>(value: T): T =>
        JSON.parse(
          JSON.stringify(value ?? null)
            .replaceAll('":id"', String(id))
            .replaceAll(':id', String(id)),
        ) as T
      const first = await send(method, fill(path), fill(body) ?? undefined, 'k')
      const again = await send(method, fill(path), fill(body) ?? undefined, 'k', { server: 1 })
      expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
      expect([replayed(first), replayed(again)]).toEqual([null, 'true'])
      const before = await notes()
      // The server died between the commit and the response.
      await world.opened.exec(`update idempotency_keys set status = null, body = null, created_at = ${PAST[engineCase.dialect]}`)
      const lost = await send(method, fill(path), fill(body) ?? undefined, 'k')
      expect([lost.status, replayed(lost), await notes()]).toEqual([200, 'true', before])
      if (!/delete|purge/.test(what)) expect(lost.text).toBe(first.text)
      else expect(first.body).toMatchObject({ ...lost.body, ...lost.body.data && { data: [{ id: lost.body.data[0].id }] } })
    })

    it('belongs to one caller, tenant, path and query', async () => {
      expect((await send('POST', 'notes', { title: 'a' }, 'k')).status).toBe(201)
      for (const [title, options] of [['b', { caller: BEN }], ['c', { caller: THEIRS }]] as const) {
        const other = await send('POST', 'notes', { title }, 'k', options)
        expect([other.status, other.body.title, replayed(other)]).toEqual([201, title, null])
      }
      expect((await send('POST', 'notes/bulk', { items: [{ title: 'd' }] }, 'k')).status).toBe(200)
      expect((await send('POST', 'notes?x=1', { title: 'e' }, 'k')).status).toBe(201)
      expect(await notes()).toBe(5)
    })

    it('returns 422 for another body, and accepts an equal one', async () => {
      const first = await send('POST', 'notes', { title: 'a', pay: 'x' }, '"k"')
      expect((await send('POST', 'notes', { title: 'b', pay: 'x' }, 'k')).body.data).toEqual({ code: 'IDEMPOTENCY_MISMATCH' })
      expect((await send('POST', 'notes', { pay: 'x', title: 'a' }, 'k')).text).toBe(first.text)
      expect(await notes()).toBe(1)
    })

    it('is authorized again, and never returns what the caller can no longer read', async () => {
      const { body: { id } } = await send('POST', 'notes', { title: 'a', pay: '100' }, 'k')
      expect((await send('POST', 'notes', { title: 'a', pay: '100' }, 'k', { caller: { ...ADA, permissions: [] } })).status).toBe(403)
      const less = await send('POST', 'notes', { title: 'a', pay: '100' }, 'k', { caller: { ...ADA, permissions: ['write'] } })
      expect([less.status, replayed(less), less.body.title, 'pay' in less.body]).toEqual([201, 'true', 'a', false])
      await send('DELETE', `notes/${id}`, undefined, undefined)
      expect((await send('POST', 'notes', { title: 'a', pay: '100' }, 'k')).body.data).toEqual({ code: 'NOT_FOUND' })
      expect(await notes()).toBe(1)
    })

    it('stores no refusals, failures and dry runs', async () => {
      await send('POST', 'notes', { title: 'taken' }, undefined)
      const refused = await send('POST', 'notes', { title: 'taken' }, 'k')
      expect([refused.status, (await send('POST', 'notes', { title: 5 }, 'k')).status]).toEqual([409, 400])
      onBefore = () => {
        throw new Error('boom')
      }
      expect((await send('POST', 'notes', { title: 'free' }, 'k')).status).toBe(500)
      onBefore = () => {}
      expect((await send('POST', 'notes', { title: 'free' }, 'k', { headers: { prefer: 'tx=rollback' } })).status).toBe(201)
      expect(await count('select count(*) from idempotency_keys')).toBe(0)
      expect([(await send('POST', 'notes', { title: 'free' }, 'k')).status, await notes()]).toEqual([201, 2])
    })

    it('runs an endpoint with `idempotent` once for 20 parallel requests on two servers', async () => {
      const { id } = (await send('POST', 'notes', { title: 'hey' }, undefined)).body
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) => send('POST', `notes/${id}/shout`, undefined, 'k', { server: index % 2 })),
      )
      expect(new Set(responses.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`200 {"shouted":${id}}`]))
      expect(await world.opened.all('select title from notes')).toEqual([['hey!']])
    })

    it('runs a batch once for 20 parallel requests on two servers, and repeats its response', async () => {
      const steps = [
        { resource: 'notes', operation: 'create', data: { title: 'a' }, as: 'note' },
        { resource: 'notes', operation: 'create', data: { title: 'b' } },
        { resource: 'notes', operation: 'update', id: { $ref: 'note.id' }, data: { title: 'c' } },
      ]
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) => send('POST', 'batch', { steps }, 'k', { server: index % 2 })),
      )
      expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
      expect([new Set(responses.map(({ text }) => text)).size, await notes()]).toEqual([1, 2])
      expect((await send('POST', 'batch', { steps }, 'k')).text).toBe(responses[0]!.text)
      await send('DELETE', `notes/${responses[0]!.body.data[1].id}`, undefined, undefined)
      expect((await send('POST', 'batch', { steps }, 'k')).body.data).toEqual({ code: 'NOT_FOUND' })
    })

    it('keeps its effect if an after-hook fails: the retry gets the record', async () => {
      onCreated = () => {
        throw new Error('boom')
      }
      expect((await send('POST', 'notes', { title: 'a' }, 'k')).status).toBe(500)
      onCreated = () => {}
      const retry = await send('POST', 'notes', { title: 'a' }, 'k')
      expect([retry.status, replayed(retry), retry.body.title, await notes()]).toEqual([201, 'true', 'a', 1])
    })

    it('is unused after its time, and a task removes it', async () => {
      await send('POST', 'notes', { title: 'a' }, 'k')
      await world.opened.exec(`update idempotency_keys set expires_at = ${PAST[engineCase.dialect]}`)
      expect((await send('POST', 'notes', { title: 'b' }, 'k')).status).toBe(201)
      expect([await notes(), await count('select count(*) from idempotency_keys')]).toEqual([2, 2])
    })

    it('takes effect as often as a simple model says', async () => {
      const command = fc.record({
        key: fc.constantFrom('a', 'b', undefined),
        body: fc.constantFrom('x', 'y', 'z'),
        caller: fc.constantFrom(ADA, BEN),
        server: fc.constantFrom(0, 1),
      })
      await fc.assert(fc.asyncProperty(fc.array(command, { maxLength: 8 }), async (commands) => {
        await world.opened.exec('delete from idempotency_keys; delete from notes')
        const titles = new Set<string>()
        const used = new Map<string, string>()
        for (const { key, body, caller, server } of commands) {
          const name = key === undefined ? undefined : `${caller.user!.id} ${key}`
          const { status } = await send('POST', 'notes', { title: body }, key, { caller, server })
          const before = name === undefined ? undefined : used.get(name)
          const expected = before === undefined ? titles.has(body) ? 409 : 201 : before === body ? 201 : 422
          expect(status).toBe(expected)
          if (before === undefined && expected === 201) {
            titles.add(body)
            if (name !== undefined) used.set(name, body)
          }
        }
        expect(await notes()).toBe(titles.size)
      }), { numRuns: isFull ? 100 : 5 })
    })
  })
})
