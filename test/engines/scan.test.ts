/**
 * On every engine a scan returns each visible row once, in the order of the list: over batches that begin at ties, NULLs and equal dates.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scanner } from '../support/scan'
import { createServer } from '../support/server'
import { tableText, WORLDS } from './fuzz/tables'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openFilled, type Filled } from './support/tables'
import { get } from './support/walk'

const SPECS = {
  makers: { columns: { id: 'integer!', name: 'text!' }, key: ['id'] },
  things: {
    columns: { id: 'integer!', name: 'text', level: 'integer', at: 'date', makerId: 'integer' },
    key: ['id'],
    references: [['makers', 'makerId']],
  },
  judged: { columns: { id: 'integer!', level: 'integer' }, key: ['id'] },
} as const

const COUNT = 1100
const ids = Array.from({ length: COUNT }, (_, index) => index + 1)
const ROWS = {
  makers: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Ben' },
  ],
  things: ids.map(id => ({
    id,
    name: id % 11 === 0 ? null : `n${id % 50}`,
    level: id % 3 === 0 ? null : id % 5,
    at: id % 13 === 0 ? null : new Date(Date.UTC(2026, 0, 1 + (id % 20))),
    makerId: id % 4 === 0 ? null : 1 + (id % 2),
  })),
  judged: ids.map(id => ({ id, level: id % 7 })),
}

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a scan', () => {
    let server: Filled
    beforeAll(async () => {
      server = await openFilled(engineCase, SPECS, ROWS, {
        plugins: [scanner()],
        registrations: tables =>
          Object.entries(tables).map(([name, schema]) => ({
            name,
            schema,
            authorization: {
              permissions: { read: true },
              ...(name === 'judged' && { objectLevel: (row: Record<string, unknown>) => Number(row.level) < 5 }),
            },
          })),
      })
    })
    afterAll(() => server?.opened.close())

    async function pages(path: string, query: object): Promise<unknown[]> {
      const records: unknown[] = []
      for (let page = 1; ; page++) {
        const { body } = await get(server, path, { ...query, page, limit: 100 })
        records.push(...body.data)
        if (records.length >= body.meta.total) return records
      }
    }

    it.each<[path: string, query: object]>([
      ['things', {}],
      ['things', { sort: 'level' }],
      ['things', { sort: '-level,name' }],
      ['things', { sort: 'at,-level', fields: 'id,name' }],
      ['things', { sort: '-at', filter: { level: { $ne: 2 } } }],
      ['things', { sort: 'name', include: 'maker' }],
      ['judged', { sort: '-level' }],
    ])('of %s equals the pages of the list: %j', async (path, query) => {
      const { status, body } = await get(server, `scan/${path}`, { ...query })
      expect(status).toBe(200)
      expect(body.length).toBeGreaterThan(1)
      expect(body.flat()).toEqual(await pages(path, query))
    })
  })

  describe.skipIf(!isAvailable(engineCase))('a list under an object-level rule, sorted by a custom type that stores bytes', () => {
    it('has every accepted record once, over batches that begin at any of them', async () => {
      const { dialect, engine, open } = engineCase
      const { things } = WORLDS[dialect]()
      const opened = await open()
      for (const text of [WORLDS[dialect]().before, tableText(dialect, things)]) if (text) await opened.exec(text)
      const server = await createServer({
        db: opened.db, engine, modules: [{ things }],
        registrations: [{ name: 'things', schema: things, authorization: { permissions: { read: true, create: true },
          objectLevel: row => Number(row.id) % 4 === 0 } }],
      })
      const items = Array.from({ length: 24 }, (_, index) => ({ title: `t${index}`, bytes: Buffer.of(98, (index * 7) % 24).toString('base64'), organizationId: 1 }))
      expect((await server.request('POST', '/api/things/bulk', { body: { items } })).status).toBe(200)
      const { status, body } = await server.request('GET', '/api/things?sort=-bytes&limit=6&fields=id,bytes&count=none')
      expect(status).toBe(200)
      const { data } = body as { data: { id: number, bytes: string }[] }
      expect(new Set(data.map(({ id }) => id)).size).toBe(6)
      const stored = data.map(({ bytes }) => Buffer.from(bytes, 'base64').toString('hex'))
      expect(stored).toEqual([...stored].sort().reverse())
      await opened.close()
    })
  })
})
