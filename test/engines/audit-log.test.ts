/**
 * On every engine: the plugin `auditLog` records every change in its commit, without the values that nobody can read. Readers see the
 * changes that they could read in the record itself, and totals and cursors count only those.
 */
import { notInArray, type Column } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { auditLog } from '../../src/runtime/plugins/index'
import { defineAutoApiPlugin, type Change } from '../../src/runtime/server/define'
import { AUDIT_LOGS } from './support/audit-log'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openLedger, readTable, reset, type Ledger } from './support/ledger'
import { isFull } from '../support/tiers'

type Image = Record<string, unknown> | null

interface Entry {
  id: string
  kind: string
  resource: string
  recordId: string | null
  rootId: string | null
  userId: string | null
  via: string
  tenantId: string | null
  columns: string[]
  before: Image
  after: Image
  reason: string | null
}

type Caller = Parameters<Ledger['request']>[2] extends infer O ? NonNullable<O> extends { caller?: infer C } ? C : never : never

const EDITOR: Caller = { user: { id: 7, organizationId: 1 } }
/** Sees entries of every record of its tenant. */
const OWNER: Caller = { user: { id: 8, organizationId: 1 }, permissions: ['auditor', 'auditLog:all'] }
const AUDITOR: Caller = { user: { id: 9, organizationId: 1 }, permissions: ['auditor'] }
const PAYROLL: Caller = { user: { id: 10, organizationId: 1 }, permissions: ['auditor', 'payroll'] }
const STRANGER: Caller = { user: { id: 11, organizationId: 2 }, permissions: ['auditor', 'auditLog:all', 'payroll'] }

/** A reader for whom the tests choose rules. */
const GUEST = { id: 12, organizationId: 1 }
let unreadable: { fields: ReadonlySet<string>, rows: readonly number[] } = { fields: new Set(), rows: [] }
let hiddenTags: { bySql: readonly number[], inCode: readonly number[] } = { bySql: [], inCode: [] }
const forGuest = (field: string) => ({
  read: ({ user }: { user: { id?: unknown } | null }) => user?.id !== GUEST.id || !unreadable.fields.has(field),
})

const every = { read: true, create: true, update: true, delete: true } as const

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('the audit log', () => {
    let ledger: Ledger
    let commits: Change[] = []
    beforeAll(async () => {
      ledger = await openLedger(engineCase, {
        auditLog: true,
        plugins: () => [
          auditLog({ secrets: { comments: ['body'] } }),
          defineAutoApiPlugin({ name: 'listener', onCommit: changes => void commits.push(...changes) }),
        ],
        authorization: {
          // `price` is for payroll, `big` for nobody. Labels of an even id are judged in code.
          articles: {
            permissions: { ...every, viewDeleted: 'payroll' },
            fields: {
              price: { read: 'payroll' },
              big: { read: false },
              ...Object.fromEntries(['title', 'data', 'at', 'bytes'].map(field => [field, forGuest(field)])),
            },
            listFilter: (table: { id: Column }, { user }: { user: { id?: unknown } | null }) =>
              user?.id === GUEST.id && unreadable.rows.length > 0 ? notInArray(table.id, [...unreadable.rows]) : undefined,
          },
          // The guest sees no tag of `hiddenTags`: by SQL, or judged in code.
          tags: {
            permissions: every,
            listFilter: (table: { id: Column }, { user }: { user: { id?: unknown } | null }) =>
              user?.id === GUEST.id && hiddenTags.bySql.length > 0 ? notInArray(table.id, [...hiddenTags.bySql]) : undefined,
            objectLevel: (row: { id: number }, { user }: { user: { id?: unknown } | null }) =>
              user?.id !== GUEST.id || !hiddenTags.inCode.includes(row.id),
          },
          labels: {
            permissions: every,
            objectLevel: (row: { id: number }, ctx: { operation: string }) => ctx.operation !== 'read' || row.id % 2 === 1,
          },
        },
      })
    })
    beforeEach(async () => {
      await ledger.opened.exec('delete from audit_log')
      await reset(ledger)
      commits = []
    })
    afterAll(() => ledger?.opened.close())

    const send = (method: string, path: string, body?: unknown, caller: Caller = EDITOR) =>
      ledger.request(method, `/api/${path}`, { body, caller })
    const write = async (method: string, path: string, body?: unknown) => {
      const answer = await send(method, path, body)
      expect({ path, status: answer.status, body: answer.status < 300 ? '' : answer.body }).toEqual({
        path,
        status: answer.status < 300 ? answer.status : 200,
        body: '',
      })
      return answer.body
    }
    const stored = async () => {
      const entries = await readTable(ledger, AUDIT_LOGS[engineCase.dialect]) as unknown as Entry[]
      return entries.sort((a, b) => a.id < b.id ? -1 : 1)
    }
    const list = async (caller: Caller, query = '') => {
      const { status, body } = await send('GET', `audit-log${query}`, undefined, caller)
      expect({ status, message: status === 200 ? '' : body.message }).toEqual({ status: 200, message: '' })
      return body as { data: Entry[], meta: { total?: number, nextCursor?: string | null, hasMore?: boolean } }
    }
    const namesOf = (entries: readonly Entry[]) => entries.map(({ kind, resource, recordId }) => `${kind} ${resource} ${recordId}`)

    it('records a create, an update and a delete with its cascade, and never a hidden value', async () => {
      await write('POST', 'articles', { title: 'new', price: '3', big: '77' })
      await write('PATCH', 'articles/1', { title: 'other' })
      await write('DELETE', 'articles/1?reason=spam')
      const entries = await stored()
      const [created, updated] = entries as [Entry, Entry]
      expect(created).toMatchObject({
        kind: 'create',
        resource: 'articles',
        userId: '7',
        tenantId: '1',
        via: 'session',
        before: null,
        after: { title: 'new' },
      })
      expect(created.columns).toContain('secret')
      expect(Object.keys(created.after!)).not.toContain('secret')
      expect(Object.keys(created.after!)).not.toContain('big')
      expect(updated).toMatchObject({
        kind: 'update',
        recordId: '1',
        columns: ['title'],
        before: { title: 'one' },
        after: { title: 'other' },
      })
      expect(
        entries
          .slice(2)
          .filter(({ resource }) => resource !== 'articleLabels')
          .map(({ kind, resource, recordId, rootId, reason }) => [kind, resource, recordId, rootId, reason])
          .sort(),
      ).toEqual([
        ['delete', 'articles', '1', null, 'spam'],
        ['delete', 'comments', '11', '1', 'spam'],
        ['delete', 'comments', '111', '1', 'spam'],
        ['delete', 'comments', '12', '1', 'spam'],
      ])
      const text = JSON.stringify(await ledger.opened.all('select * from audit_log'))
      expect(text).not.toContain('hush')
      expect(text).not.toContain('9007199254740993')
    })

    it('records links over a junction that is not registered as changes of the relation', async () => {
      await write('POST', 'articles/1/relations/tags', { ids: [3] })
      await write('DELETE', 'articles/1/relations/tags', { ids: [1] })
      await write('POST', 'tags/2/relations/articles', { ids: [2] })
      await write('POST', 'articles/1/relations/labels', { ids: [3] })
      const entries = await stored()
      expect(
        entries.map(({ kind, resource, recordId, columns }) => [kind, resource, recordId, resource === 'articleLabels' ? '' : columns]),
      ).toEqual([
        ['link', 'articles', '1', ['tags']],
        ['unlink', 'articles', '1', ['tags']],
        ['link', 'tags', '2', ['articles']],
        ['link', 'articleLabels', expect.any(String), ''],
      ])
    })

    it('shows an entry of a link only to a reader who can see both records, by the rules of today', async () => {
      await write('POST', 'articles/1/relations/tags', { ids: [3] })
      await write('DELETE', 'articles/1/relations/tags', { ids: [1, 2] })
      const hidden = await send('GET', 'articles/1/relations/tags', undefined, { user: GUEST, permissions: ['auditor'] })
      expect(hidden.body.data.map(({ id }: { id: number }) => id)).toEqual([3])
      for (const [where, visible] of [
        [{ bySql: [1], inCode: [] }, [2, 3]],
        [{ bySql: [], inCode: [1, 3] }, [2]],
        [{ bySql: [2, 3], inCode: [1] }, []],
      ] as const) {
        hiddenTags = where
        const guest: Caller = { user: GUEST, permissions: ['auditor'] }
        const [history, log, all] = [
          await send('GET', 'articles/1/history', undefined, guest),
          await list(guest),
          await list({ user: GUEST, permissions: ['auditor', 'auditLog:all'] }),
        ]
        expect({
          where,
          history: history.body.data.length,
          total: history.body.meta.total,
          log: log.data.length,
          all: all.data.length,
        }).toEqual({ where, history: visible.length, total: visible.length, log: visible.length, all: 3 })
      }
      hiddenTags = { bySql: [], inCode: [] }
      for (const caller of [AUDITOR, OWNER]) for (const entry of (await list(caller)).data) expect(entry).not.toHaveProperty('otherId')
      for (const query of ['filter[otherId]=1', 'sort=otherId', 'fields=otherId', 'groupBy=otherId'])
        expect({ query, status: (await send('GET', `auditLog?${query}`, undefined, { ...OWNER, permissions: ['*'] })).status }).toEqual({
          query,
          status: 400,
        })
      // Whoever gets the id of a tag that was deleted is another record.
      await write('DELETE', 'articles/1/relations/tags', { ids: [3] })
      await write('DELETE', 'tags/3')
      await write('POST', 'tags', { id: 3, name: 'new' })
      expect(namesOf((await list(AUDITOR, '?resource=articles')).data)).toEqual(['unlink articles 1', 'unlink articles 1'])
      expect((await list(OWNER, '?resource=articles')).data).toHaveLength(4)
    })

    it('records restores, purges and groups, and nothing for a refused write', async () => {
      await write('POST', 'articles/bulk/restore', { deletionId: 'd4' })
      await write('DELETE', 'articles/bulk', { ids: [4, 5] })
      await write('DELETE', 'articles/4?force=true')
      const before = await stored()
      expect((await send('PATCH', 'articles/2', { title: 'three' })).status).toBe(409)
      expect((await send('PATCH', 'articles/9', { title: 'x' })).status).toBe(404)
      expect(await stored()).toHaveLength(before.length)
      const registered = commits.filter(({ resource }) => resource !== undefined)
      expect(namesOf(before).sort()).toEqual(registered.map(({ kind, resource, id }) => `${kind} ${resource} ${id}`).sort())
      expect(before.some(({ kind, before: image }) => kind === 'purge' && image !== null)).toBe(true)
    })

    it('writes 100 entries for a bulk create of 100', async () => {
      const items = Array.from({ length: 100 }, (_, index) => ({ title: `bulk ${index}` }))
      await write('POST', 'articles/bulk', { items })
      expect(await stored()).toHaveLength(100)
    })

    it('shows a reader the changes that the reader can read, and counts only those', async () => {
      await write('PATCH', 'articles/1', { title: 'a', price: '9' })
      await write('PATCH', 'articles/1', { price: '10' })
      await write('PATCH', 'articles/2', { big: '5' })
      await write('PATCH', 'comments/11', { body: 'hidden words' })
      await write('PATCH', 'articles/2', {})
      const all = await list(OWNER)
      expect(namesOf(all.data)).toEqual(['update comments 11', 'update articles 1'])
      expect(all.meta.total).toBe(2)
      expect(all.data[0]).toMatchObject({ columns: ['body'], before: {}, after: {} })
      expect(all.data[1]).toMatchObject({ columns: ['title'], before: { title: 'one' }, after: { title: 'a' } })
      expect((await list(AUDITOR)).meta.total).toBe(2)
      const payroll = await list(PAYROLL)
      expect(payroll.meta.total).toBe(3)
      expect(payroll.data[1]!.columns).toEqual(['price'])
      expect((await list(STRANGER)).meta.total).toBe(0)
      for (const caller of [AUDITOR, PAYROLL]) {
        const found: Entry[] = []
        for (let cursor: string | null | undefined = ''; typeof cursor === 'string';) {
          const { data, meta }: { data: Entry[], meta: { nextCursor?: string | null } } = await list(caller, `?limit=1&cursor=${cursor}`)
          found.push(...data)
          cursor = meta.nextCursor
        }
        expect(namesOf(found)).toEqual(namesOf((await list(caller)).data))
      }
    })

    it('hides entries of rows that the reader cannot see, unless the reader can see all', async () => {
      await write('PATCH', 'articles/2', { title: 'x' })
      await write('DELETE', 'articles/2')
      await write('PATCH', 'bookmarks/1', { name: 'y' })
      await write('DELETE', 'bookmarks/1')
      await write('PATCH', 'labels/1', { name: 'odd' })
      await write('PATCH', 'labels/2', { name: 'even' })
      const visible = async (caller: Caller) => namesOf((await list(caller)).data).filter(name => !/comments|articleLabels/.test(name))
      expect(await visible(AUDITOR)).toEqual(['update labels 1'])
      expect(await visible(PAYROLL)).toEqual(['update labels 1', 'delete articles 2', 'update articles 2'])
      expect(await visible(OWNER)).toEqual([
        'update labels 2',
        'update labels 1',
        'delete bookmarks 1',
        'update bookmarks 1',
        'delete articles 2',
        'update articles 2',
      ])
    })

    it('filters, and refuses parameters that it does not have', async () => {
      await write('PATCH', 'articles/1', { title: 'a' })
      await write('PATCH', 'articles/2', { title: 'b' })
      await write('POST', 'bookmarks', { name: 'c' })
      const names = async (query: string) => namesOf((await list(OWNER, query)).data)
      expect(await names('?resource=articles')).toEqual(['update articles 2', 'update articles 1'])
      expect(await names('?resource=articles&recordId=2')).toEqual(['update articles 2'])
      expect(await names('?kind=create&userId=7')).toEqual([expect.stringContaining('create bookmarks')])
      expect(await names('?userId=8')).toEqual([])
      expect(await names(`?from=2020-01-01&to=${new Date(Date.now() + 60_000).toISOString()}`)).toHaveLength(3)
      expect(await names('?to=2020-01-01')).toEqual([])
      for (const query of ['?offset=1', '?resorce=articles', '?from=soon', '?page=0', '?cursor=x', '?resource=a&resource=b', '?limit=x'])
        expect({ query, status: (await send('GET', `audit-log${query}`, undefined, OWNER)).status }).toEqual({ query, status: 400 })
      expect((await send('GET', 'audit-log')).status).toBe(403)
      expect((await send('GET', 'audit-log', undefined, { user: null })).status).toBe(401)
    })

    it('shows the record that a cascade began with only to a reader who can see all', async () => {
      await write('DELETE', 'articles/1')
      const roots = async (caller: Caller) => (await list(caller, '?resource=comments')).data.map(({ rootId }) => rootId)
      const reader: Caller = { user: { id: 9, organizationId: 1 }, permissions: ['auditor', 'payroll'] }
      expect(await roots(OWNER)).toEqual(['1', '1', '1'])
      const { data } = await list(reader, '?resource=comments')
      for (const entry of data) expect(entry).not.toHaveProperty('rootId')
      for (const query of ['filter[rootId]=1', 'sort=rootId', 'fields=rootId', 'groupBy=rootId'])
        expect({ query, status: (await send('GET', `auditLog?${query}`, undefined, reader)).status }).toEqual({ query, status: 400 })
    })

    it('shows the history of one record', async () => {
      await write('PATCH', 'articles/1', { title: 'a' })
      await write('PATCH', 'articles/2', { title: 'b' })
      await write('DELETE', 'articles/2')
      const history = (id: string, caller: Caller) => send('GET', `articles/${id}/history`, undefined, caller)
      const { body } = await history('1', AUDITOR)
      expect(namesOf(body.data)).toEqual(['update articles 1'])
      expect(body.meta.total).toBe(1)
      expect((await history('2', AUDITOR)).status).toBe(404)
      expect(namesOf((await history('2', PAYROLL)).body.data)).toEqual(['delete articles 2', 'update articles 2'])
      expect(namesOf((await history('2', OWNER)).body.data)).toEqual(['delete articles 2', 'update articles 2'])
      expect((await history('1', EDITOR)).status).toBe(403)
      expect((await history('01', OWNER)).status).toBe(404)
      expect((await history('1', STRANGER)).body.data).toEqual([])
      expect((await send('GET', 'labels/2/history', undefined, AUDITOR)).status).toBe(404)
    })

    it('lists exactly the entries with a change that the reader can read, for random rules', async () => {
      const value = (field: string, index: number) =>
        ({
          title: `T${index}`,
          data: { D: index },
          at: new Date(index * 1000).toISOString(),
          price: String(index + 20),
          big: String(index),
        })[field]
      const names = ['title', 'data', 'at', 'price', 'big'] as const
      const change = fc.record({ id: fc.constantFrom(1, 2, 3), fields: fc.subarray([...names], { minLength: 1 }) })
      const rules = fc.record({
        fields: fc.subarray(['title', 'data', 'at']),
        rows: fc.subarray([1, 2, 3]),
        payroll: fc.boolean(),
        all: fc.boolean(),
      })
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 4, maxLength: 8 }),
          fc.array(rules, { minLength: 3, maxLength: 3 }),
          async (changes, readers) => {
            await ledger.opened.exec('delete from audit_log')
            await reset(ledger)
            for (const [index, { id, fields }] of changes.entries())
              await write('PATCH', `articles/${id}`, Object.fromEntries(fields.map(field => [field, value(field, index)])))
            await write('PATCH', 'comments/11', { body: 'BODY-77' })
            const entries = (await stored()).filter(({ resource }) => resource === 'articles').reverse()
            for (const { fields, rows, payroll, all } of readers) {
              unreadable = { fields: new Set(fields), rows }
              const caller: Caller = {
                user: GUEST,
                permissions: ['auditor', ...(payroll ? ['payroll'] : []), ...(all ? ['auditLog:all'] : [])],
              }
              const isReadable = (column: string) => column !== 'big' && (column === 'price' ? payroll : !fields.includes(column as never))
              const shown = (image: Image) => image && Object.fromEntries(Object.entries(image).filter(([column]) => isReadable(column)))
              const expected = entries
                .filter(({ recordId, columns }) => (all || !rows.includes(Number(recordId))) && columns.some(isReadable))
                .map(({ id, columns, before, after }) => ({
                  id,
                  columns: columns.filter(isReadable),
                  before: shown(before),
                  after: shown(after),
                }))
              const view = (found: readonly Entry[]) => found.map(({ id, columns, before, after }) => ({ id, columns, before, after }))
              const whole = await list(caller, '?resource=articles')
              expect([view(whole.data), whole.meta.total]).toEqual([expected, expected.length])
              const paged: Entry[] = []
              let pages = 0
              for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; pages++) {
                const { data, meta }: { data: Entry[], meta: { nextCursor?: string | null } } = await list(
                  caller,
                  `?resource=articles&limit=3&cursor=${cursor}`,
                )
                paged.push(...data)
                cursor = meta.nextCursor
              }
              expect([view(paged), pages]).toEqual([expected, Math.max(1, Math.ceil(expected.length / 3))])
            }
            const text = JSON.stringify(await ledger.opened.all('select * from audit_log'))
            expect(text).not.toMatch(/hush|BODY-77/)
          },
        ),
        { numRuns: isFull ? 40 : 3 },
      )
      unreadable = { fields: new Set(), rows: [] }
    })

    it('reads the same on the routes of its resource, and refuses writes there', async () => {
      await write('PATCH', 'articles/1', { title: 'a', price: '9' })
      await write('PATCH', 'articles/1', { price: '10' })
      const { data: [entry] } = await list(AUDITOR)
      const generated = await send('GET', 'auditLog', undefined, AUDITOR)
      expect(generated.body.data).toEqual([entry])
      expect(generated.body.meta.total).toBe(1)
      expect((await send('GET', `auditLog/${entry!.id}`, undefined, AUDITOR)).body).toEqual(entry)
      expect((await send('GET', 'auditLog?fields=before,after,columns', undefined, AUDITOR)).text).not.toContain('price')
      expect((await send('GET', 'auditLog?fields=resource,before', undefined, AUDITOR)).text).not.toContain('price')
      expect(
        (await send('GET', 'auditLog/aggregate?aggregate=count&groupBy=kind', undefined, { ...OWNER, permissions: ['*'] })).status,
      ).toBe(200)
      for (const query of ['filter={"before":{"$like":"%12%"}}', 'sort=before', 'filter={"columns":"x"}', 'groupBy=after'])
        expect({ query, status: (await send('GET', `auditLog?${query}`, undefined, { ...OWNER, permissions: ['*'] })).status }).toEqual({
          query,
          status: 400,
        })
      const root: Caller = { ...OWNER, permissions: ['*'] }
      for (const [method, path, body] of [
        ['POST', 'auditLog', { kind: 'x' }],
        ['PATCH', `auditLog/${entry!.id}`, { kind: 'x' }],
        ['DELETE', `auditLog/${entry!.id}`],
        ['DELETE', `auditLog/${entry!.id}?force=true`],
        ['POST', 'auditLog/bulk', { items: [{}] }],
        ['DELETE', 'auditLog/bulk', { ids: [entry!.id] }],
      ] as const)
        expect({ method, path, status: (await send(method, path, body, root)).status }).toEqual({ method, path, status: 405 })
    })

    it('reverts a record to the state that an entry left, under the rules of an update', async () => {
      await write('PATCH', 'articles/1', { title: 'a', price: '9' })
      await write('PATCH', 'articles/1', { title: 'b', data: { x: 1 } })
      await write('PATCH', 'articles/1', { title: 'c', price: '11' })
      const [third, second, first] = (await list(PAYROLL)).data as [Entry, Entry, Entry]
      const revert = (entry: { id: string }, caller: Caller) => send('POST', `audit-log/${entry.id}/revert`, {}, caller)
      expect((await revert(second, EDITOR)).status).toBe(403)
      expect((await revert(second, STRANGER)).status).toBe(404)
      const tried = await send('POST', `audit-log/${first.id}/revert?dryRun=true`, {}, PAYROLL)
      expect(tried).toMatchObject({ status: 200, body: { title: 'a' } })
      expect((await stored()).filter(({ resource }) => resource === 'articles')).toHaveLength(3)
      const blind = await revert(first, AUDITOR)
      expect(blind).toMatchObject({ status: 200, body: { title: 'a' } })
      expect(blind.body).not.toHaveProperty('price')
      const { headers } = await send('GET', 'articles/1', undefined, PAYROLL)
      const conditional = (tag: string) =>
        ledger.request('POST', `/api/audit-log/${third.id}/revert`, { body: {}, caller: PAYROLL, headers: { 'if-match': tag } })
      expect((await conditional('"AAAAAAAAAAAAAAAA"')).status).toBe(412)
      const reverted = await conditional(headers.get('etag')!)
      expect([reverted.status, reverted.headers.get('etag')]).toEqual([
        200,
        (await send('GET', 'articles/1', undefined, PAYROLL)).headers.get('etag'),
      ])
      const back = await revert(third, PAYROLL)
      expect(back).toMatchObject({ status: 200, body: { title: 'c', data: { x: 1 } } })
      expect(Number(back.body.price)).toBe(11)
      const full = await revert(first, PAYROLL)
      expect(full).toMatchObject({ status: 200, body: { title: 'a', data: { a: [1, 'x'] } } })
      expect(Number(full.body.price)).toBe(9)
      expect((await stored()).at(-1)).toMatchObject({ kind: 'update', recordId: '1', userId: '10' })
      expect((await revert({ id: 'nonsense' }, PAYROLL)).status).toBe(404)
      await write('DELETE', 'articles/1')
      const [deleted] = (await list(OWNER, '?resource=articles&kind=delete')).data
      expect((await revert(deleted!, OWNER)).status).toBe(409)
      expect((await revert(first, OWNER)).status).toBe(404)
    })

    it('writes the entries of a large cascade with at most two further statements per table', async () => {
      const rows = isFull ? 10_000 : 1200
      if (engineCase.dialect !== 'mysql')
        await ledger.opened.exec(
          'create index comments_parent on comments (parent_id); create index comments_article on comments (article_id);',
        )
      const statementsOf = async (path: string) => {
        ledger.opened.statements()
        await write('DELETE', path)
        return ledger.opened.statements()
      }
      const few = await statementsOf('articles/1')
      for (let start = 0; start < rows; start += 500) {
        const values = Array.from(
          { length: Math.min(500, rows - start) },
          (_, index) => `(${10_000 + start + index}, 1, 2, 'a "comment", ${start + index}')`,
        )
        await ledger.opened.exec(`insert into comments (id, organization_id, article_id, body) values ${values.join(', ')}`)
      }
      const before = (await stored()).length
      const many = await statementsOf('articles/2')
      const entries = (await stored()).slice(before)
      expect(entries.filter(({ resource, kind }) => resource === 'comments' && kind === 'delete')).toHaveLength(rows + 1)
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
      expect(entries.find(({ recordId }) => recordId === '10007')).toMatchObject({
        kind: 'delete',
        rootId: '2',
        tenantId: '1',
        columns: ['deletedAt', 'deletionId'],
        before: { deletedAt: null },
      })
      expect(many.length).toBeLessThanOrEqual(few.length)
      const tables = new Set(entries.map(({ resource }) => resource)).size
      expect(many.filter(text => text.includes('audit_log'))).toHaveLength(tables)
      const readsAfter = many
        .slice(many.findLastIndex(text => text.startsWith('with') || text.startsWith('update')) + 1)
        .filter(text => text.startsWith('select'))
      expect(readsAfter.length).toBeLessThanOrEqual(tables)
    })

    it('runs two statements for a page, whatever the page contains', async () => {
      await write('PATCH', 'articles/1', { title: 'a' })
      const count = async () => {
        ledger.opened.statements()
        await list(AUDITOR, '?resource=articles')
        return ledger.opened.statements().length
      }
      const one = await count()
      for (let index = 0; index < 15; index++) await write('PATCH', 'articles/1', { title: `t${index}` })
      expect([one, await count()]).toEqual([2, 2])
    })
  })
})
