/** The statements of the queue read some rows, however many deliveries wait: of one record, of many, or of a webhook that is off. */
import type { Table } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createQueue } from '../../src/runtime/plugins/webhooks/server/queue'
import type { Tables } from '../../src/runtime/plugins/webhooks/server/tables'
import * as mysqlPresets from '../../src/runtime/plugins/schema-mysql'
import * as pgPresets from '../../src/runtime/plugins/schema-pg'
import * as sqlitePresets from '../../src/runtime/plugins/schema-sqlite'
import { defineAutoApiPlugin } from '../../src/runtime/server/define'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { createTablesSql } from '../support/create-tables'
import { createServer } from '../support/server'
import { byTier } from '../support/tiers'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'

const COUNT = byTier({ push: 20_000, full: 100_000, release: 100_000 })
const PRESETS = { sqlite: sqlitePresets, pg: pgPresets, mysql: mysqlPresets } as const

/** The deliveries of three webhooks: `one` of a single record, `many` of as many records, and `off` of a webhook that is switched off. */
const WEBHOOKS = ['one', 'many', 'off'] as const
const TIME = new Date('2026-01-01T00:00:00Z')

const NUMBERS: Readonly<Record<Dialect, string>> = {
  sqlite: `(with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${COUNT}) select n from numbers)`,
  pg: `(select n from generate_series(1, ${COUNT}) as s (n))`,
  mysql: `(select seq as n from seq_1_to_${COUNT})`,
}
const TIMES: Readonly<Record<Dialect, string>> = {
  sqlite: String(TIME.getTime()), pg: `'2026-01-01T00:00:00Z'`, mysql: `'2026-01-01 00:00:00'`,
}
const BOOLEANS: Readonly<Record<Dialect, readonly [string, string]>> = { sqlite: ['0', '1'], pg: ['false', 'true'], mysql: ['false', 'true'] }
const ANALYZE: Readonly<Record<Dialect, string>> = {
  sqlite: '', pg: 'analyze webhook_deliveries', mysql: 'analyze table webhook_deliveries',
}

/** The half of `one` that was delivered, and its rest. */
const fill = (dialect: Dialect) => [
  ...WEBHOOKS.map(id => `insert into webhooks (id, url, events, active, owner, slot, failures, secret, created_at, updated_at)
    values ('${id}', 'http://127.0.0.1', '[]', ${BOOLEANS[dialect][id === 'off' ? 0 : 1]}, '1', '${id}', 0, 's', ${TIMES[dialect]}, ${TIMES[dialect]})`),
  ...WEBHOOKS.map((id, index) => `insert into webhook_deliveries
      (id, webhook_id, event, resource, record_id, status, attempts, created_at, due_at, owner, position)
    select ${dialect === 'mysql' ? `concat('${id}', n)` : `'${id}' || n`}, '${id}', 'posts.updated', 'posts',
      ${id === 'one' ? `'1'` : dialect === 'mysql' ? 'cast(n as char)' : 'cast(n as text)'},
      case when '${id}' = 'one' and n <= ${COUNT / 2} then 'delivered' else 'pending' end, 0, ${TIMES[dialect]},
      case when '${id}' = 'one' and n <= ${COUNT / 2} then null else ${dialect === 'pg' ? `timestamptz ${TIMES[dialect]}` : TIMES[dialect]} end,
      '1', n + ${index * COUNT}
    from ${NUMBERS[dialect]} numbers`),
]

// D1 is SQLite, and its simulation measures something else.
describe.each(ENGINE_CASES.filter(({ engine }) => engine !== 'd1'))('$name', (engineCase) => {
  const { dialect, engine } = engineCase
  describe.skipIf(!isAvailable(engineCase))(`a queue of ${COUNT} deliveries of each webhook`, () => {
    let opened: Opened
    let queue: ReturnType<typeof createQueue>
    beforeAll(async () => {
      opened = await engineCase.open()
      const { webhooksTable, webhookDeliveriesTable } = PRESETS[dialect]
      const tables = { webhooks: webhooksTable() as Table, webhookDeliveries: webhookDeliveriesTable() as Table }
      await opened.exec(await createTablesSql(dialect, tables))
      for (const statement of fill(dialect)) await opened.exec(statement)
      if (ANALYZE[dialect]) await opened.exec(ANALYZE[dialect])
      await createServer({
        db: opened.db, engine,
        registrations: Object.entries(tables).map(([name, schema]) => ({ name, schema, authorization: { permissions: { read: true } } })),
        plugins: [defineAutoApiPlugin({ name: 'queue', setup(server) {
          const own = (name: string, table: Table) => ({ name, table, access: server.table(name), toRowId: (id: string) => id })
          queue = createQueue({
            webhooks: own('webhooks', tables.webhooks), deliveries: own('webhookDeliveries', tables.webhookDeliveries), names: new Set(),
          } satisfies Tables)
        } })],
      })
    }, 300_000)
    afterAll(() => opened?.close())

    it('finds, claims and finishes deliveries without reading all of them', async () => {
      const now = new Date()
      const times: Record<string, number> = {}
      async function measure<T>(name: string, run: () => Promise<T>): Promise<T> {
        const samples: number[] = []
        let result: T
        for (let round = 0; round < 9; round++) {
          const start = performance.now()
          result = await run()
          samples.push(performance.now() - start)
        }
        times[name] = samples.sort((a, b) => a - b)[4]!
        return result!
      }
      const due = await measure('dueWebhooks', () => queue.dueWebhooks(undefined, now))
      expect(due.map(({ id }) => id).sort()).toEqual(['many', 'one'])
      const one = await measure('heads of one record', () => queue.heads(undefined, 'one', now))
      expect(one.due.map(({ position }) => position)).toEqual([COUNT / 2 + 1])
      const many = await measure('heads of many records', () => queue.heads(undefined, 'many', now))
      expect(many.due).toHaveLength(90)
      const head = one.due[0]!
      expect((await measure('next', () => queue.next(undefined, head, now)))?.id).toBe(head.id)
      const until = new Date(now.getTime() + 60_000)
      await measure('claim', () => queue.claim(undefined, head, crypto.randomUUID(), until))
      expect(await queue.claim(undefined, many.due[0]!, 'mine', until)).toBe(true)
      expect(await queue.claim(undefined, many.due[0]!, 'other', until)).toBe(false)
      // The head of the single record is claimed: those behind it get its time, some with each search.
      expect(await measure('heads behind a claimed one', () => queue.heads(undefined, 'one', now))).toEqual({ due: [], hasMore: true })
      await measure('finish', () => queue.finish(undefined, many.due[0]!, 'mine', { status: 'delivered', dueAt: null }))
      const list = Object.entries(times).map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`)
      console.info(`${engineCase.name}, ${COUNT} deliveries each: ${list.join(', ')}`)
      await measure('all', () => opened.all('select count(*) from webhook_deliveries where owner <> \'\' and error is null'))
      const { all, ...own } = times
      console.info(`${engineCase.name}: reading all of them once takes ${all!.toFixed(1)} ms`)
      // A search that compares each delivery of a record with the earlier ones takes many times as long as reading all of them.
      expect(Object.entries(own).filter(([, ms]) => ms > 5 * all!)).toEqual([])
    })
  })
})
