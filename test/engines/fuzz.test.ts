/** No request returns a 5xx on any engine, or returns or changes a row of another tenant or of the trash. */
import { getTableColumns, getTableName, sql, type Table } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { batch } from '../../src/runtime/plugins'
import type { Resource } from '../../src/runtime/server/schema/model'
import { createServer, type Caller, type TestServer } from '../support/server'
import { createRandom, createRequests, shapesOf, type Asked } from './fuzz/requests'
import { tableText, WORLDS } from './fuzz/tables'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { TIMES } from './support/blog'
import { byTier, isFull } from '../support/tiers'

/** Requests to each engine; the others take milliseconds for each. */
const REQUESTS = Number(process.env.FUZZ ?? byTier({ push: 400, full: 10_000, release: 50_000 }))
const SEED = Number(process.env.SEED ?? Date.now() % 2_147_483_647)
/** After so many the rows are as they were at first. */
const ROUND = 300

/** Never shown to the writer. */
const THEIRS = 'row of another tenant'
const BURIED = 'row in the trash'
const HIDDEN = 'hidden column'

const isDriverValue = (value: unknown) =>
  value === null || typeof value !== 'object' || value instanceof Date || value instanceof Uint8Array

const WRITER: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['write'] }
const THEM: Caller = { user: { id: 2, organizationId: 2 }, permissions: ['write', 'staff'] }
const STAFF: Caller = { user: { id: 3, organizationId: 3 }, permissions: ['write', 'staff'] }

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('random requests', () => {
    const { dialect, engine, open } = engineCase
    const world = WORLDS[dialect]()
    let opened: Opened
    let server: TestServer
    let forge: (resource: string, sort: string, value: () => unknown) => string

    beforeAll(async () => {
      opened = await open()
      const { things, parts, labels, pairs, thingLabels } = world
      for (const text of [world.before, ...[things, parts, labels, pairs, thingLabels].map(table => tableText(dialect,
        table))]) if (text) await opened.exec(text)
      const permissions = { read: true as const, create: 'write', update: 'write', delete: 'write', restore: 'staff', purge: 'staff',
        viewDeleted: 'staff' }
      const nested = { parts: ['create', 'update', 'delete'] } as const
      server = await createServer({
        db: opened.db, engine, plugins: [batch()], modules: [{ things, parts, labels, pairs, thingLabels }],
        registrations: [
          { name: 'things', schema: things, hiddenFields: ['secret'], authorization: { permissions }, nested },
          { name: 'judged', schema: things, hiddenFields: ['secret'], authorization: { permissions,
            objectLevel: row => Number(row.id) % 3 !== 0 }, nested },
          { name: 'parts', schema: parts, authorization: { permissions } },
          { name: 'labels', schema: labels, authorization: { permissions,
            listFilter: table => sql`${(table as Table & { name: never }).name} <> ${'unlisted'}` } },
          { name: 'pairs', schema: pairs, authorization: { permissions } },
        ],
        config: { multiTenancy: { enabled: true, tenantIdField: 'organizationId', userTenantField: 'organizationId', scopedResources: '*',
          excludedResources: [] } },
      })
      const { useApi } = await import('../../src/runtime/server/runtime')
      const { createCursor } = await import('../../src/runtime/server/core/sql/cursor')
      const { planOrder } = await import('../../src/runtime/server/core/plan/order')
      const { allFields } = await import('../../src/runtime/server/core/access/fields')
      forge = (name, sort, value) => {
        const resource: Resource = useApi().resources.get(name)!
        try {
          const order = planOrder(resource, allFields(resource), sort.split(',').map(text => ({ name: text.replace('-', ''),
            descending: text.startsWith('-') })), [])
          return createCursor(resource, order, order.map(value))
        }
        catch {
          return 'abc'
        }
      }
    })
    afterAll(() => opened?.close())

    const seed = async (caller: Caller, title: string, count: number) => {
      const samples = Object.entries(world.samples)
      const items = Array.from({ length: count }, (_, index) => ({ ...Object.fromEntries(samples.map(([name, values]) => [name,
        values[index % values.length]])), title }))
      const { status, text } = await server.request('POST', '/api/things/bulk', { body: { items }, caller })
      expect([status, text.slice(0, 1000)]).toEqual([200, expect.any(String)])
    }

    const CLEAR = ['thing_labels', 'parts', 'things', 'labels', 'pairs']
    const COUNT_FROM = { sqlite: `delete from sqlite_sequence`, pg: 'alter sequence things_id_seq restart with 1',
      mysql: 'alter table things auto_increment = 1' }

    async function reset(): Promise<void> {
      for (const table of CLEAR) await opened.exec(`delete from ${table}`)
      await opened.exec(COUNT_FROM[dialect])
      await seed(WRITER, 'row of the writer', 4)
      await seed(WRITER, BURIED, 2)
      await opened.exec(
        `update things set deleted_at = ${TIMES[dialect]}, deletion_id = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc' where title = '${BURIED}'`,
      )
      await seed(THEM, THEIRS, 2)
      await seed(STAFF, 'row of the staff', 4)
      // A node of a cluster generates 2, 5, 8 and so on.
      if (dialect === 'mysql') await opened.exec('set @place = 0; update things set id = (@place := @place + 1) order by id')
      await opened.exec(
        `insert into parts (id, organization_id, thing_id, note) values ('11111111-1111-4111-8111-111111111111', 1, 1, 'a'), ('22222222-2222-4222-8222-222222222222', 2, 7, 'b'), ('33333333-3333-4333-8333-333333333333', 3, 9, 'c')`,
      )
      await opened.exec(
        `insert into labels (name, organization_id, weight) values ('red', 1, 1.5), ('blue', 1, 2), ('theirs', 2, 3), ('unlisted', 1, 1)`,
      )
      await opened.exec(
        `insert into pairs (day, address, organization_id, note) values ('2024-02-29', '10.0.0.1', 1, 'a'), ('2024-03-01', '10.0.0.2', 2, '${THEIRS}')`,
      )
      await opened.exec(
        `insert into thing_labels (thing_id, label_name, ${dialect === 'mysql' ? '`rank`' : '"rank"'}) values (1, 'red', 1), (7, 'theirs', 1)`,
      )
      await opened.exec(`update things set secret = '${HIDDEN}'`)
    }

    const CAST = { sqlite: (name: string) => `cast("${name}" as text)`, pg: (name: string) => `cast("${name}" as text)`,
      mysql: (name: string) => `hex(\`${name}\`)` }
    const rowsOf = (table: Table, where: string) => {
      const columns = Object.values(getTableColumns(table)).map(({ name }) => CAST[dialect](name))
      return opened.all(`select ${columns.join(', ')} from ${getTableName(table)} where ${where} order by 1`)
    }

    /** Rows that no request of the writer or the staff can change. */
    const untouched = async () => JSON.stringify(await Promise.all([
      rowsOf(world.things, `organization_id = 2 or (organization_id = 1 and title = '${BURIED}')`), rowsOf(world.parts,
        'organization_id = 2'), rowsOf(world.labels, 'organization_id = 2'), rowsOf(world.pairs, 'organization_id = 2'),
      rowsOf(world.thingLabels, 'thing_id = 7'),
    ]))

    const describeError = (error: unknown): string => {
      const found = error as { message?: string, code?: unknown, errno?: unknown, cause?: unknown, stack?: string } | undefined
      return found?.cause
        ? describeError(found.cause)
        : `${String(found?.code ?? found?.errno ?? '')} ${String(found?.message ?? error).slice(0, 200)}`
    }

    it(`are answered without a 5xx, and rows of others stay unseen and unchanged: ${REQUESTS} requests`, async () => {
      const random = createRandom(SEED)
      const next = createRequests(random, shapesOf(world), forge)
      const faults = new Map<string, { count: number, example: string }>()
      const statuses = new Map<number, number>()
      const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
      const add = (key: string, asked: Asked) => {
        const known = faults.get(key)
        faults.set(key, {
          count: (known?.count ?? 0) + 1,
          example:
            known?.example
            ?? `${asked.method} ${decodeURIComponent(asked.path).slice(0, 400)} ${String(JSON.stringify(asked.body)).slice(0, 400)}`,
        })
      }
      let before = ''
      for (let sent = 0; sent < REQUESTS; sent++) {
        if (sent % ROUND === 0) {
          await reset()
          before = await untouched()
        }
        const asked = next()
        const staff = random.chance(0.25)
        logged.mockClear()
        const { status, text, body } = await server.request(asked.method, `/api/${asked.path}`, { body: asked.body,
          caller: staff ? STAFF : WRITER })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        const inner = (body?.data?.errors ?? body?.meta?.errors) as { statusCode: number }[] | undefined
        if (status >= 500 || inner?.some?.(({ statusCode }) => statusCode >= 500))
          add(`${status}: ${logged.mock.calls.map(call => describeError(call.at(-1))).join(' | ')}`, asked)
        if (text.includes(THEIRS) && !asked.path.includes(THEIRS)) add('shows a row of another tenant', asked)
        if (text.includes(HIDDEN)) add('shows a hidden column', asked)
        if (!staff && text.includes(BURIED)) add('shows a row in the trash', asked)
        if (opened.sent().some(({ values }) => !values.every(isDriverValue))) add('hands a driver what is no scalar', asked)
        if (sent % ROUND === ROUND - 1 || sent === REQUESTS - 1) {
          if (await untouched() !== before) add('changed a row that is not the caller\'s', asked)
        }
      }
      logged.mockRestore()
      if (isFull || process.env.FUZZ)
        console.log(
          `${engineCase.name}: ${REQUESTS} requests, seed ${SEED}: ${[...statuses]
            .sort(([a], [b]) => a - b)
            .map(([status, count]) => `${status} ${count}`)
            .join(' · ')}`,
        )
      // The message alone reaches the reader of a run elsewhere.
      if (faults.size > 0) expect.fail(`seed ${SEED}: ${JSON.stringify(Object.fromEntries(faults), undefined, 1)}`)
      // They are not refused all alike.
      expect(statuses.get(200)).toBeGreaterThan(REQUESTS / 10)
    }, 3_600_000)
  })
})
