/** A large export needs no more memory than a small one, stops with its client, and ends when the client leaves. */
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { integer as pgInteger, pgTable, text as pgText } from 'drizzle-orm/pg-core'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataExport } from '../../src/runtime/plugins'
import { createServer, type ListeningServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { isFull } from '../support/tiers'

const ROWS = isFull ? 1_000_000 : 30_000
const MB = 1024 * 1024
const TABLES = {
  sqlite: sqliteTable('large', { id: integer('id').primaryKey(), title: text('title'), rank: integer('rank') }),
  pg: pgTable('large', { id: pgInteger('id').primaryKey(), title: pgText('title'), rank: pgInteger('rank') }),
}

describe.each(ENGINE_CASES.filter(({ name }) => ['better-sqlite3', 'node-postgres'].includes(name)))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))(`an export of ${ROWS.toLocaleString('en')} records`, () => {
    let opened: Opened
    let listening: ListeningServer
    /** Batches that `afterList` has seen. */
    let batches = 0

    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(`create table large (id integer primary key, title text, rank integer);
        insert into large with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS})
        select i, '${'a title, "quoted" '.repeat(20)}' || i, i % 1000 from n`)
      const schema = TABLES[engineCase.dialect as keyof typeof TABLES]
      const hooks = { afterList: () => void batches++ }
      const server = await createServer({
        db: opened.db, engine: engineCase.engine, plugins: [dataExport({ maxRows: ROWS, concurrent: 1 })],
        registrations: [{ name: 'large', schema, hooks, authorization: { permissions: { read: true } } }],
      })
      listening = await server.listen()
    }, 120_000)
    afterAll(async () => {
      await listening?.close()
      await opened?.close()
    })

    const url = (query: string) => `${listening.url}/api/large/export?${query}`

    it.each(['csv', 'ndjson', 'json'])('is complete, with flat memory: %s', async (format) => {
      for await (const _ of (await fetch(url(`format=${format}&filter[id][$lte]=200000`))).body as unknown as AsyncIterable<Uint8Array>);
      globalThis.gc?.()
      const before = process.memoryUsage().rss
      const start = performance.now()
      const response = await fetch(url(`format=${format}`))
      expect([response.status, response.headers.get('x-total-count')]).toEqual([200, String(ROWS)])
      let [lines, peak, chunks] = [0, 0, 0]
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        for (const byte of chunk) if (byte === 10) lines++
        if (chunks++ % 100 === 0) peak = Math.max(peak, process.memoryUsage().rss - before)
      }
      console.info(
        `${engineCase.name}, ${format}: ${lines} lines in ${Math.round(performance.now() - start)} ms, memory grew by at most ${(peak / MB).toFixed(0)} MB`,
      )
      expect(lines).toBe(format === 'csv' ? ROWS + 1 : ROWS)
      expect(peak).toBeLessThan(50 * MB)
    }, 300_000)

    it('stops with a client that reads nothing, and its slot is free within a second after the client has left', async () => {
      batches = 0
      const socket = connect(listening.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.pause()
      socket.write('GET /api/large/export?format=json HTTP/1.1\r\nHost: localhost\r\n\r\n')
      let seen = -1
      for (let tries = 0; tries < 20 && (batches === 0 || batches !== seen); tries++) {
        seen = batches
        await wait(300)
      }
      const stalled = batches
      await wait(500)
      expect(batches).toBe(stalled)
      expect((await fetch(url('format=csv'))).status).toBe(503)
      socket.destroy()
      await wait(1000)
      const after = batches
      const response = await fetch(url('format=csv&filter[id]=1'))
      expect([response.status, (await response.text()).split('\r\n').length, batches]).toEqual([200, 3, after + 1])
    }, 60_000)
  })
})
