/**
 * On every engine: statements of plugins run in the commit of the change. A plugin writes each change with its images into a ledger. The
 * ledger equals the changes that `onCommit` reports, and a comparison of all tables before and after the request.
 */
import { isDeepStrictEqual } from 'node:util'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { batch } from '../../src/runtime/plugins'
import { defineAutoApiPlugin, type Change, type ChangedRows, type CommitStatement } from '../../src/runtime/server/define'
import { apiError } from '../../src/runtime/server/core/request/custom-error'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { dump, openLedger, readTable, reset, type Ledger, type LedgerTables } from './support/ledger'
import { WRITES, type Request } from './support/ledger-writes'

const CALLER = { user: { id: 1, organizationId: 1 } }

let commits: (readonly Change[])[] = []

const listener = defineAutoApiPlugin({ name: 'listener', onCommit: changes => void commits.push(changes) })

const auditor = (tables: LedgerTables) => defineAutoApiPlugin({
  name: 'auditor',
  needs: { images: true },
  inCommit: changes => changes.map(rows => rows.insertInto(tables.ledger, {
    id: rows.uuid, place: rows.table, kind: rows.kind, recordId: rows.id, tenantId: rows.tenant, cascaded: rows.cascaded ?? false,
    columns: rows.columns, before: rows.before, after: rows.after,
  })),
})

/** Writes each change once more, with the whole row before it. */
let keeps: 'nothing' | 'whole rows' | 'whole rows without titles' = 'nothing'
const WHOLE = 'whole '
const keeper = (tables: LedgerTables) => defineAutoApiPlugin({
  name: 'keeper',
  needs: { images: true },
  inCommit: changes => (keeps === 'nothing' ? [] : changes).map(rows => rows.insertInto(tables.ledger, {
    id: rows.uuid, place: WHOLE + rows.table, kind: rows.kind, recordId: rows.id, tenantId: rows.tenant, cascaded: rows.cascaded ?? false,
    columns: rows.columns, before: rows.before, after: rows.after,
  }, { wholeBefore: true, ...keeps === 'whole rows without titles' && { withoutValues: ['title'] } })),
})

interface Entry {
  kind: string
  place: string
  recordId: string
  tenantId: unknown
  cascaded: boolean
  columns: string[]
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

async function readLedger(ledger: Ledger): Promise<Entry[]> {
  return (await readTable(ledger, ledger.tables.ledger)).map(row => ({
    ...row,
    after: row.after === null ? null : JSON.parse(row.after as string),
  })) as unknown as Entry[]
}

/** Appends a letter to a label, and reports it. */
async function appendRoute({ labels }: LedgerTables) {
  const { atomicWrites, createEndpoint, reportChanges } = await import('../../src/runtime/server/utils/index')
  type Db = { update: (table: typeof labels) => { set: (values: object) => { where: (condition: unknown) => unknown } } }
  return { 'POST /append': createEndpoint({ handler: ctx => atomicWrites<Db>(ctx, [
    db => db.update(labels).set({ name: sql`concat(${labels.name}, 'x')` }).where(eq(labels.id, 1)),
    reportChanges(ctx, [{ resource: 'labels', kind: 'update', id: 1 }, { resource: 'labels', kind: 'update', id: 999 }]),
  ]) }) }
}

const nameOf = ({ kind, place, recordId, cascaded }: Omit<Entry, 'columns' | 'before' | 'after' | 'tenantId'>) =>
  `${kind} ${place} ${recordId}${cascaded ? ' *' : ''}`

type Dump = Awaited<ReturnType<typeof dump>>

/** The image of a row, from the tables before and after. */
function imageOf({ kind, place, recordId }: Entry, from: Dump, to: Dump) {
  const old = kind === 'create' || kind === 'link' ? undefined : from.get(`${place} ${recordId}`)
  const current = kind === 'purge' || kind === 'unlink' ? undefined : to.get(`${place} ${recordId}`)
  const names = Object.keys(old ?? current!)
  const columns = old && current ? names.filter(name => !isDeepStrictEqual(old[name], current[name])) : names
  const pick = (row?: Record<string, unknown>) => row ? Object.fromEntries(columns.map(name => [name, row[name]])) : null
  return { columns, before: pick(old), after: pick(current), tenantId: (current ?? old)!.organizationId ?? null }
}

/** The rows that differ. */
const changedRows = (from: Dump, to: Dump) =>
  [...new Set([...from.keys(), ...to.keys()])].filter(key => !isDeepStrictEqual(from.get(key), to.get(key))).sort()

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a plugin that takes part in commits', () => {
    let ledger: Ledger
    let inCommit: (changes: readonly ChangedRows[]) => readonly CommitStatement[] | Promise<readonly CommitStatement[]>
    beforeAll(async () => {
      ledger = await openLedger(engineCase, {
        endpoints: appendRoute,
        plugins: tables => [auditor(tables), keeper(tables), listener, batch(), defineAutoApiPlugin({ name: 'other', inCommit: changes => inCommit(changes) })],
      })
    })
    beforeEach(async () => {
      await reset(ledger)
      commits = []
      inCommit = () => []
      keeps = 'nothing'
    })
    afterAll(() => ledger?.opened.close())

    const send = async ([method, path, body]: Request) => ledger.request(method, `/api/${path}`, { body, caller: CALLER })

    it.each(WRITES)('writes every change of %s with its images, and with the whole row before it', async (_what, requests) => {
      keeps = 'whole rows'
      for (const request of requests) {
        await ledger.opened.exec('delete from ledger')
        commits = []
        const from = await dump(ledger)
        const { status, body } = await send(request)
        expect({ status, body: status < 400 ? '' : body }).toEqual({ status: expect.toSatisfy((status: number) => status < 400), body: '' })
        const to = await dump(ledger)
        const all = await readLedger(ledger)
        const [entries, whole] = [all.filter(({ place }) => !place.startsWith(WHOLE)), all.filter(({ place }) => place.startsWith(WHOLE))]
        const reported = commits
          .flat()
          .map(({ table, id, kind, cascaded }) => nameOf({ kind, place: table, recordId: id, cascaded: cascaded ?? false }))
        expect(entries.map(nameOf).sort()).toEqual(reported.sort())
        expect(changedRows(from, to)).toEqual(
          changedRows(from, to).filter(key => entries.some(({ place, recordId }) => key === `${place} ${recordId}`)),
        )
        expect(new Set(entries.map(({ place, recordId }) => `${place} ${recordId}`)).size).toBe(entries.length)
        for (const entry of entries) {
          const { columns, before, after, tenantId } = entry
          expect({ of: nameOf(entry), columns, before, after, tenantId }).toEqual({ of: nameOf(entry), ...imageOf(entry, from, to) })
        }
        const wholeOf = (entry: Entry) =>
          ({ ...entry, id: '', place: WHOLE + entry.place, before: entry.before && from.get(`${entry.place} ${entry.recordId}`) })
        const byName = (one: Parameters<typeof nameOf>[0], other: Parameters<typeof nameOf>[0]) => nameOf(one) < nameOf(other) ? -1 : 1
        expect(whole.map(entry => ({ ...entry, id: '' })).sort(byName)).toEqual(entries.map(wholeOf).sort(byName))
      }
    })

    it('leaves the values of columns out of the whole row, and names them if they change', async () => {
      keeps = 'whole rows without titles'
      const { title: _, ...rest } = (await dump(ledger)).get('articles 1')!
      await send(['PATCH', 'articles/1', { title: 'other', price: '7' }])
      const [entry] = (await readLedger(ledger)).filter(({ place }) => place.startsWith(WHOLE))
      expect([entry!.columns, entry!.before, Object.keys(entry!.after!)]).toEqual([['title', 'price'], rest, ['price']])
    })

    it('writes what each step of a batch changes, although several change one row', async () => {
      const { status } = await send(['POST', 'batch', { steps: [
        { resource: 'articles', operation: 'create', data: { title: 'new' }, as: 'article' },
        { resource: 'articles', operation: 'update', id: 2, data: { title: 'a' } },
        { resource: 'articles', operation: 'update', id: 2, data: { title: 'b' } },
        { resource: 'articles', operation: 'update', id: { $ref: 'article.id' }, data: { title: 'renamed' } },
        { resource: 'articles', operation: 'delete', id: 2 },
      ] }])
      expect(status).toBe(200)
      const entries = (await readLedger(ledger)).filter(({ cascaded }) => !cascaded)
      const titles = entries.map(({ kind, before, after }) => [kind, before?.title, after?.title].join(' '))
      expect(titles.sort()).toEqual(['create  new', 'delete  ', 'update a b', 'update new renamed', 'update two a'])
      expect(commits.flat().filter(({ cascaded }) => !cascaded).map(({ kind }) => kind))
        .toEqual(['create', 'update', 'update', 'update', 'delete'])
    })

    it('gives each changed row an id that sorts in the order of the commits', async () => {
      for (const title of ['a', 'b', 'c']) await send(['POST', 'articles', { title }])
      const entries = await readLedger(ledger) as (Entry & { id: string })[]
      const sorted = entries.toSorted((a, b) => a.id < b.id ? -1 : 1)
      expect(sorted.map(({ after }) => after?.title)).toEqual(['a', 'b', 'c'])
      expect(entries.every(({ id }) => /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toBe(true)
    })

    it('writes the images of reported changes, although other commits change the same row', async () => {
      keeps = 'whole rows'
      const responses = await Promise.all(Array.from({ length: 6 }, () => ledger.request('POST', '/append', { caller: CALLER })))
      expect(responses.map(({ status }) => status).filter(status => status !== 200 && status !== 503)).toEqual([])
      const succeeded = responses.filter(({ status }) => status === 200).length
      expect(succeeded).toBeGreaterThan(0)
      const entries = (await readLedger(ledger)).filter(({ recordId }) => recordId === '1')
        .toSorted((a, b) => String(a.after!.name).length - String(b.after!.name).length)
      const images = entries.filter(({ place }) => !place.startsWith(WHOLE))
        .map(({ columns, before, after }) => ({ columns, before, after }))
      expect(images).toEqual(Array.from({ length: succeeded }, (_, count) =>
        ({ columns: ['name'], before: { name: `x${'x'.repeat(count)}` }, after: { name: `x${'x'.repeat(count + 1)}` } })))
      expect(entries.filter(({ place }) => place.startsWith(WHOLE)).map(({ before }) => before))
        .toEqual(Array.from({ length: succeeded }, (_, count) => ({ id: 1, name: `x${'x'.repeat(count)}` })))
      expect((await readLedger(ledger)).filter(({ recordId }) => recordId === '999').map(({ before, after }) => [before, after]))
        .toEqual(Array.from({ length: 2 * succeeded }, () => [null, null]))
    })

    it('commits statements of Drizzle together with the change', async () => {
      const { labels } = ledger.tables
      inCommit = () => [
        ((db: { update: (table: typeof labels) => { set: (values: object) => { where: (condition: unknown) => unknown } } }) =>
          db
            .update(labels)
            .set({ name: sql`'seen'` })
            .where(eq(labels.id, 1))) as CommitStatement,
      ]
      expect((await send(['POST', 'articles', { title: 'new' }])).status).toBe(201)
      expect((await readTable(ledger, labels))[0]).toMatchObject({ name: 'seen' })
    })

    describe('writes nothing when', () => {
      const refused = async (request: Request, run: typeof inCommit) => {
        const before = await dump(ledger)
        const log = vi.spyOn(console, 'error').mockImplementation(() => {})
        inCommit = run
        const { status, body } = await send(request)
        log.mockRestore()
        expect(await dump(ledger)).toEqual(before)
        expect(await readLedger(ledger)).toEqual([])
        expect(commits).toEqual([])
        return `${status} ${body.data?.code ?? body.message}`
      }

      it.each(WRITES.filter(([what]) => what !== 'an update without values'))('the plugin refuses %s', async (_what, requests) => {
        for (const request of requests.slice(0, -1)) await send(request)
        await ledger.opened.exec('delete from ledger')
        commits = []
        const refuse = () => Promise.reject(apiError('FROZEN', 'The books are closed.', { status: 423 }))
        expect(await refused(requests.at(-1)!, refuse)).toBe('423 FROZEN')
      })

      it.each(WRITES.filter(([what]) => what !== 'an update without values'))(
        'a statement of the plugin fails in %s',
        async (_what, requests) => {
          for (const request of requests.slice(0, -1)) await send(request)
          await ledger.opened.exec('delete from ledger')
          commits = []
          const { tags } = ledger.tables
          const insert = ((db: { insert: (table: typeof tags) => { values: (row: unknown) => unknown } }) =>
            db.insert(tags).values({ id: 1, name: 'twice' })) as CommitStatement
          expect(await refused(requests.at(-1)!, () => [insert])).toMatch(/^(?:409|500)/)
        },
      )

      it.each<[string, (rows: ChangedRows, tables: LedgerTables) => unknown]>([
        [
          'throws',
          () => {
            throw new Error('no')
          },
        ],
        ['returns nothing', () => undefined],
        ['returns something else', () => ['x']],
        ['returns an async function', () => [async () => {}]],
        ['reads images without `needs`', rows => [rows.before]],
        ['names a column that does not exist', (rows, { ledger }) => [rows.insertInto(ledger, { recordID: rows.id } as never)]],
        ['leaves out a value', (rows, { ledger }) => [rows.insertInto(ledger, { recordId: rows.id } as never)]],
        ['passes something else than a table', rows => [rows.insertInto({} as never, {} as never)]],
        [
          'inserts a value that does not fit',
          (rows, { ledger }) => [
            rows.insertInto(ledger, { id: rows.uuid, place: 'x', kind: 'x', recordId: 'x', cascaded: false, tenantId: rows.uuid }),
          ],
        ],
      ])('the plugin %s', async (_what, run) => {
        expect(await refused(['POST', 'articles', { title: 'new' }], changes => run(changes[0]!, ledger.tables) as never)).toMatch(/^500/)
      })

      it('the plugin returns a statement of an earlier commit', async () => {
        const { ledger: table } = ledger.tables
        const kept: CommitStatement[] = []
        const insert = (rows: ChangedRows) =>
          rows.insertInto(table, { id: rows.uuid, place: 'x', kind: 'x', recordId: rows.id, cascaded: false } as never)
        inCommit = (changes) => {
          kept.push(insert(changes[0]!))
          return []
        }
        await send(['POST', 'articles', { title: 'first' }])
        await ledger.opened.exec('delete from ledger')
        commits = []
        expect(await refused(['POST', 'articles', { title: 'new' }], () => kept)).toMatch(/^500/)
      })
    })
  })

  describe.skipIf(!isAvailable(engineCase))('a plugin without images', () => {
    let ledger: Ledger
    beforeAll(async () => {
      ledger = await openLedger(engineCase, {
        transactional: false,
        plugins: tables => [
          listener,
          batch(),
          defineAutoApiPlugin({
            name: 'counter',
            inCommit: changes =>
              changes.map(rows =>
                rows.insertInto(tables.ledger, {
                  id: rows.uuid,
                  place: rows.table,
                  kind: rows.kind,
                  recordId: rows.id,
                  tenantId: rows.tenant,
                  cascaded: rows.cascaded ?? false,
                } as never),
              ),
          }),
        ],
      })
    })
    beforeEach(async () => {
      await reset(ledger)
      commits = []
    })
    afterAll(() => ledger?.opened.close())

    it.each(WRITES)('writes the id and the tenant of every change of %s', async (_what, requests) => {
      for (const [method, path, body] of requests) {
        await ledger.opened.exec('delete from ledger')
        commits = []
        const from = await dump(ledger)
        expect((await ledger.request(method, `/api/${path}`, { body, caller: CALLER })).status).toBeLessThan(400)
        const to = await dump(ledger)
        const entries = await readLedger(ledger)
        const reported = commits
          .flat()
          .map(({ table, id, kind, cascaded }) => nameOf({ kind, place: table, recordId: id, cascaded: cascaded ?? false }))
        expect(entries.map(nameOf).sort()).toEqual(reported.sort())
        for (const entry of entries)
          expect(entry).toMatchObject({ tenantId: imageOf(entry, from, to).tenantId, before: null, columns: null })
      }
    })

    it('writes the changes of each item that a batch commits alone', async () => {
      const { status } = await ledger.request('POST', '/api/articles/bulk', {
        body: { items: [{ title: 'a' }, { title: 'one' }, { title: 'c' }] },
        caller: CALLER,
      })
      expect(status).toBeLessThan(300)
      expect((await readLedger(ledger)).length).toBe(2)
    })
  })
})
