/** On every engine a file that was exported and imported again has the same values: each column type, hostile texts, both formats. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataExport } from '../../src/runtime/plugins'
import { createServer, type Caller, type TestServer } from '../support/server'
import { parseCsv } from '../plugins/data-export/exported'
import { tableText, WORLDS } from './fuzz/tables'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'

const callerOf = (organizationId: number): Caller => ({ user: { id: organizationId, organizationId }, permissions: [] })

const TEXTS = [
  '=1+1',
  '＝1',
  '\'＝1',
  '\'=x',
  '\'\'+',
  '-',
  '@SUM(A1)',
  '\ttab',
  '\r',
  '\n',
  '\r\nline',
  '"',
  '""',
  'a"b',
  ',',
  ';',
  'a,b;c|d',
  ' space ',
  '\'',
  'NULL',
  'null',
  '0',
  'true',
  '-1.50',
  '😀',
  'Zoë',
  '\u2028',
  '\\',
  '%',
  '{}',
  '[1]',
  '"x"',
  '#REF!',
]

type Row = Record<string, unknown>

/**
 * Their drivers return objects, but a custom type without `toDriver` accepts only scalars. So no body can contain what a response contains.
 */
const ONE_WAY = ['bareJson', 'barePoint']
/** D1 reads larger numbers from JSON with a rounding error. */
const MAX = 1e300

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a file', () => {
    const world = WORLDS[engineCase.dialect]()
    let opened: Opened
    let server: TestServer
    let rows: readonly Row[]

    beforeAll(async () => {
      opened = await engineCase.open()
      const { things, parts, labels, pairs, thingLabels } = world
      for (const text of [world.before, ...[things, parts, labels, pairs, thingLabels].map(table => tableText(engineCase.dialect, table))])
        if (text) await opened.exec(text)
      const permissions = { read: true, create: true, update: true, delete: true, purge: true } as const
      server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        modules: [{ things, parts, labels, pairs, thingLabels }],
        registrations: [
          { name: 'things', schema: things, authorization: { permissions } },
          { name: 'labels', schema: labels, authorization: { permissions } },
          {
            name: 'parts',
            schema: parts,
            authorization: { permissions, objectLevel: (row: { at: string | null }) => row.at === null } as never,
          },
        ],
        config: {
          multiTenancy: {
            enabled: true,
            tenantIdField: 'organizationId',
            userTenantField: 'organizationId',
            scopedResources: '*',
            excludedResources: [],
          },
        },
        plugins: [dataExport()],
      })
      const samples = Object.entries(world.samples)
        .filter(([name]) => !ONE_WAY.includes(name))
        .map(([name, values]) => [name, values.filter(value => typeof value !== 'number' || Math.abs(value) < MAX)] as const)
      const count = Math.max(...samples.map(([, values]) => values.length), TEXTS.length)
      const items = Array.from({ length: count }, (_, index) => ({
        ...(index === 0 ? {} : Object.fromEntries(samples.map(([name, values]) => [name, values[index % values.length]]))),
        title: TEXTS[index % TEXTS.length],
      }))
      const { status, text } = await server.request('POST', '/api/things/bulk', { body: { items }, caller: callerOf(1) })
      expect([status, text.slice(0, 500)]).toEqual([200, expect.any(String)])
      rows = withoutOwn((await read('json', 1)).records)
      expect(rows).toHaveLength(count)
    })
    afterAll(() => opened?.close())

    /** Reads the rows of a tenant as a file. */
    async function read(format: string, tenant: number): Promise<{ text: string, records: Row[] }> {
      const response = await server.fetch(new Request(`http://localhost/api/things/export?format=${format}&sort=id`), callerOf(tenant))
      const text = await response.text()
      expect([response.status, text.slice(0, 500)]).toEqual([200, expect.any(String)])
      return { text, records: format === 'json' ? JSON.parse(text) : [] }
    }

    const withoutOwn = (records: readonly Row[]) => records.map(({ id: _, organizationId: __, ...rest }) => rest)
    const load = (text: string, type: string, tenant: number, query = '') =>
      server.request('POST', `/api/things/import?${query}`, { raw: text, caller: callerOf(tenant), headers: { 'content-type': type } })

    it.each([
      ['csv', 'text/csv', 2],
      ['ndjson', 'application/x-ndjson', 3],
    ])('has the same values after an export and an import: %s', async (format, type, tenant) => {
      const { text } = await read(format, 1)
      if (format === 'csv') expect(parseCsv(text)).toHaveLength(rows.length + 1)
      const { status, body } = await load(text, type, tenant)
      expect([status, body]).toEqual([200, { data: { created: rows.length, updated: 0 }, meta: { total: rows.length } }])
      expect(withoutOwn((await read('json', tenant)).records)).toEqual(rows)
    })

    it('updates records by their id, and creates none in a dry run', async () => {
      const { records } = await read('json', 1)
      const file = `id,title\r\n${records.slice(0, 3).map(({ id }, index) => `${id},new ${index}`).join('\r\n')}\r\n,created`
      expect((await load(file, 'text/csv', 1, 'mode=upsert&dryRun=true')).body).toEqual({
        data: { created: 1, updated: 3 },
        meta: { total: 4 },
      })
      expect((await read('json', 1)).records).toEqual(records)
      expect((await load(file, 'text/csv', 1, 'mode=upsert')).body).toEqual({ data: { created: 1, updated: 3 }, meta: { total: 4 } })
      const after = (await read('json', 1)).records
      expect([after.length, ...after.slice(0, 3).map(({ title }) => title), after.at(-1)!.title]).toEqual([
        rows.length + 1,
        'new 0',
        'new 1',
        'new 2',
        'created',
      ])
      expect(after.slice(3, -1)).toEqual(records.slice(3))
    })

    it('does not depend on rows that `objectLevel` hides, in a dry run neither', async () => {
      const post = (text: string, query: string) =>
        server.request('POST', `/api/parts/import?${query}`, { raw: text, caller: callerOf(4), headers: { 'content-type': 'text/csv' } })
      const idOf = (digit: number) => `${digit}0000000-0000-4000-8000-000000000000`
      expect(
        (
          await post(
            `id,note,at\r\n${idOf(1)},one,2020-01-01 00:00:00\r\n${idOf(2)},two,\r\n${idOf(3)},two,2020-01-01 00:00:00`,
            'mode=create',
          )
        ).status,
      ).toBe(200)
      for (const query of ['mode=upsert&key=note&dryRun=true', 'mode=upsert&key=note']) {
        expect((await post(`id,note\r\n${idOf(4)},one\r\n${idOf(5)},two`, query)).body).toEqual({
          data: { created: 1, updated: 1 },
          meta: { total: 2 },
        })
      }
    })

    it('is refused as a whole if one line conflicts, and the line is named', async () => {
      const post = (text: string, query = '') =>
        server.request('POST', `/api/labels/import?${query}`, { raw: text, caller: callerOf(1), headers: { 'content-type': 'text/csv' } })
      expect((await post('name,weight\r\nred,1\r\nblue,2')).status).toBe(200)
      for (const query of ['', 'dryRun=true']) {
        const { status, body } = await post('name,weight\r\ngreen,1\r\nblue,2\r\ngrey,3', query)
        expect([status, body.data.code, body.data.errors]).toMatchObject([409, 'BULK_FAILED', [{ line: 3, code: 'CONFLICT' }]])
      }
      // The key of another tenant's record conflicts, as in a create.
      expect(
        (
          await server.request('POST', '/api/labels/import?mode=upsert', {
            raw: 'name,weight\r\nblack,1\r\nblue,5',
            caller: callerOf(2),
            headers: { 'content-type': 'text/csv' },
          })
        ).body.data,
      ).toMatchObject({ code: 'BULK_FAILED', errors: [{ line: 3, code: 'CONFLICT' }] })
      expect((await post('name,weight\r\nred,5\r\ngreen,6', 'mode=upsert')).body.data).toEqual({ created: 1, updated: 1 })
      const list = await server.request('GET', '/api/labels?sort=name', { caller: callerOf(1) })
      expect(list.body.data.map(({ name, weight }: Row) => [name, weight])).toEqual([['blue', 2], ['green', 6], ['red', 5]])
    })
  })
})
