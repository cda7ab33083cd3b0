/** On every engine: the error of a statement of a plugin says nothing about the record that the client sent. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineAutoApiPlugin, type ChangedRows, type CommitStatement } from '../../src/runtime/server/define'
import { ENGINE_CASES, isAvailable, sampleFor } from './support/databases'
import { dump, openLedger, readTable, reset, type Ledger, type LedgerTables } from './support/ledger'

const CALLER = { user: { id: 1, organizationId: 1 } }
const UUID = '0198a5b0-0000-7000-8000-000000000001'

type Insert = (rows: ChangedRows, tables: LedgerTables) => CommitStatement

interface Builder { insert: (table: unknown) => { values: (row: unknown) => unknown } }
const build = (run: (db: Builder) => unknown) => run as unknown as CommitStatement

const entry = (rows: ChangedRows, { ledger }: LedgerTables, values: object) =>
  rows.insertInto(ledger, { id: UUID, place: rows.table, kind: rows.kind, recordId: rows.id, cascaded: false, ...values } as never)

/** The ledger contains a row with {@link UUID}. */
const FAILING: readonly (readonly [string, Insert])[] = [
  ['inserts a row with the key of another one', (rows, tables) => entry(rows, tables, {})],
  [
    'inserts NULL into a column that requires a value',
    (_rows, { ledger }) =>
      build(db =>
        db.insert(ledger).values({ id: '0198a5b0-0000-7000-8000-000000000002', place: 'x', kind: null, recordId: 'x', cascaded: false }),
      ),
  ],
  [
    'refers to a row that does not exist',
    (_rows, { articleTags }) => build(db => db.insert(articleTags).values({ articleId: 12345, tagId: 1 })),
  ],
  [
    'inserts the key of the table of the request',
    (_rows, { articles }) => build(db => db.insert(articles).values({ id: 1, organizationId: 1, title: 'unused' })),
  ],
  [
    'inserts NULL into the table of the request',
    (_rows, { articles }) => build(db => db.insert(articles).values({ id: 77, organizationId: 1, title: null })),
  ],
]

const WRITES: readonly (readonly [string, string, string, unknown?])[] = [
  ['a create', 'POST', 'articles', { title: 'new' }],
  ['an update', 'PATCH', 'articles/1', { title: 'other' }],
  ['a delete', 'DELETE', 'articles/1'],
  ['a purge', 'DELETE', 'articles/4?force=true'],
  ['a bulk create', 'POST', 'articles/bulk', { items: [{ title: 'a' }, { title: 'b' }] }],
  ['added links', 'POST', 'articles/1/relations/tags', { ids: [3] }],
]

const CASES = FAILING.flatMap(([what, run]) => WRITES.map(([write, method, path, body]) => [what, write, run, method, path, body] as const))

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('the client receives 500 without details when a plugin', () => {
    let ledger: Ledger
    let insert: Insert
    beforeAll(async () => {
      ledger = await openLedger(engineCase, {
        plugins: tables => [defineAutoApiPlugin({ name: 'writer', inCommit: changes => changes.map(rows => insert(rows, tables)) })],
      })
    })
    beforeEach(async () => {
      await reset(ledger)
      await ledger.opened.exec(
        `insert into ledger (id, place, kind, record_id, cascaded) values ('${UUID}', 'x', 'x', 'x', ${ledger.dialect === 'pg' ? 'false' : '0'})`,
      )
    })
    afterAll(() => ledger?.opened.close())

    it.each(sampleFor(engineCase, CASES))('%s in %s', async (_what, _write, run, method, path, body) => {
      insert = run
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      const before = await dump(ledger)
      const answer = await ledger.request(method, `/api/${path}`, { body, caller: CALLER })
      log.mockRestore()
      expect({ status: answer.status, code: answer.body.data?.code ?? '', errors: answer.body.data?.errors ?? [] }).toEqual({
        status: 500,
        code: expect.not.stringMatching(/CONFLICT|VALIDATION|REFERENCE/),
        errors: [],
      })
      expect(answer.text).not.toMatch(/exist|title|required|refer/i)
      expect(await dump(ledger)).toEqual(before)
      expect(await readTable(ledger, ledger.tables.ledger)).toHaveLength(1)
    })

    it('still receives the error of its own record', async () => {
      insert = FAILING[0]![1]
      const own = await ledger.request('POST', '/api/articles', { body: { title: 'one' }, caller: CALLER })
      expect({ status: own.status, code: own.body.data.code, message: own.body.message }).toEqual({
        status: 409,
        code: 'CONFLICT',
        message: 'A record with this title already exists.',
      })
      const bulk = await ledger.request('POST', '/api/articles/bulk', {
        body: { items: [{ title: 'a' }, { title: 'one' }] },
        caller: CALLER,
      })
      expect(bulk.body.data.errors).toMatchObject([{ index: 1, statusCode: 409 }])
    })
  })
})
