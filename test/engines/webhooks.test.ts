/**
 * On every engine: each committed change of a registered resource has one delivery for each webhook that receives it, and a write that is
 * rolled back has none. What an owner sees of a row before a change is judged by the stored image of it. Two servers share one queue.
 */
import { eq, type Column, type SQL, type Table } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { batch, webhooks } from '../../src/runtime/plugins'
import * as mysqlPresets from '../../src/runtime/plugins/schema-mysql'
import * as pgPresets from '../../src/runtime/plugins/schema-pg'
import * as sqlitePresets from '../../src/runtime/plugins/schema-sqlite'
import { defineAutoApiPlugin, type Change, type CommitStatement } from '../../src/runtime/server/define'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { openReceiver, type Receiver } from '../plugins/webhooks/world'
import { createTablesSql } from '../support/create-tables'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { openLedger, reset, type Ledger } from './support/ledger'
import { WRITES } from './support/ledger-writes'

const PRESETS = { sqlite: sqlitePresets, pg: pgPresets, mysql: mysqlPresets } as const
const tablesOf = (dialect: Dialect) =>
  ({ webhooks: PRESETS[dialect].webhooksTable() as Table, webhookDeliveries: PRESETS[dialect].webhookDeliveriesTable() as Table })

const every = { read: true, create: true, update: true, delete: true } as const
/** Reads everything. */
const EDITOR = { id: 1, organizationId: 1 }
/** Reads the articles of `rule`. */
const GUEST = { id: 2, organizationId: 1 }
let rule: ((table: Record<string, Column>) => SQL) | undefined

const RESOURCES = ['articles', 'comments', 'bookmarks', 'tags', 'labels', 'articleLabels']
const NAMES: Readonly<Record<Change['kind'], string>> = {
  create: 'created', link: 'created', update: 'updated', delete: 'deleted', unlink: 'deleted', restore: 'restored', purge: 'purged',
}

let commits: Change[] = []
const listener = defineAutoApiPlugin({ name: 'listener', onCommit: changes => void commits.push(...changes), inCommit: () => inCommit() })
let inCommit: () => readonly CommitStatement[] = () => []
let findUser = (id: string) => [EDITOR, GUEST].find(user => user.id === Number(id)) ?? null

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  const { dialect } = engineCase
  describe.skipIf(!isAvailable(engineCase))('webhooks', () => {
    let ledger: Ledger
    let receiver: Receiver
    const stops: (() => unknown)[] = []
    const plugins = () => {
      const plugin = webhooks({
        findUser: (id: string) => findUser(id), allowHttp: true, allowPrivateNetworks: true, timeout: 2, retries: [1],
      })
      stops.push(() => (plugin as unknown as { onStop: { begin: () => void } }).onStop.begin())
      return [plugin, batch(), listener]
    }
    const resources = () => Object.fromEntries(Object.entries(tablesOf(dialect)).map(([name, schema]) =>
      [name, { schema, authorization: { permissions: every } }]))
    /** @param opened the database of another server, whose tables exist */
    const open = async (opened?: Opened) => openLedger({
      ...engineCase, ...opened && { open: async () => ({ ...opened, exec: async () => {} }) },
    }, {
      plugins, resources: resources(), sql: await createTablesSql(dialect, tablesOf(dialect)),
      authorization: { articles: { permissions: every, listFilter: (table: never, ctx: { user?: { id?: number } }) =>
        ctx.user?.id === GUEST.id ? rule?.(table) : undefined } },
    })
    beforeAll(async () => {
      ledger = await open()
    })
    beforeEach(async () => {
      await ledger.opened.exec('delete from webhook_deliveries')
      await ledger.opened.exec('delete from webhooks')
      await reset(ledger)
      receiver = await openReceiver()
      commits = []
      inCommit = () => []
      rule = undefined
      findUser = id => [EDITOR, GUEST].find(user => user.id === Number(id)) ?? null
    })
    afterAll(async () => {
      for (const stop of stops) stop()
      await ledger?.opened.close()
    })

    const send = (method: string, path: string, body?: unknown, user = EDITOR) =>
      ledger.request(method, `/api/${path}`, { body, caller: { user: { ...user } } })
    const write = async (method: string, path: string, body?: unknown) => {
      const { status, text } = await send(method, path, body)
      expect({ path, status, text: status < 400 ? '' : text }).toEqual({ path, status: expect.toSatisfy((status: number) => status < 400), text: '' })
    }
    async function register(user: typeof EDITOR, events: readonly string[] = RESOURCES.map(name => `${name}.*`)) {
      const { status, text } = await send('POST', 'webhooks', { url: receiver.url, events }, user)
      expect({ status, text: status === 201 ? '' : text }).toEqual({ status: 201, text: '' })
      commits = []
    }
    const stored = async () => (await ledger.opened.all(
      'select id, event, record_id, status, image, position, due_at from webhook_deliveries order by position, id',
    )).map(([id, event, record, status, image, position, dueAt]) => ({
      id: String(id), event: String(event), record: String(record), status: String(status), position: Number(position), dueAt,
      image: (typeof image === 'string' ? JSON.parse(image) : image) as Record<string, unknown> | null,
    }))
    const settled = () => vi.waitFor(async () => {
      const rows = await stored()
      if (rows.some(({ status }) => status !== 'delivered')) throw new Error(JSON.stringify(rows))
      return rows
    // The simulation of D1 loses a connection at times. Then the delivery waits for the end of its lease.
    }, { timeout: 60_000, interval: 20 })
    const received = () => receiver.received.map(({ payload }) => `${payload.type} ${String(payload.data.id)}`)

    it.each(WRITES)('delivers each change of %s once to each webhook', async (what, requests) => {
      await register(EDITOR)
      await register(EDITOR)
      for (const [method, path, body] of requests) await write(method, path, body)
      const rows = await settled()
      // An update to the same values changes nothing that an owner could see.
      const expected = commits.filter(({ resource }) => resource !== undefined && what !== 'an update to the same values')
        .flatMap(({ resource, kind, id }) => Array.from({ length: 2 }, () => `${resource}.${NAMES[kind]} ${id}`))
      expect(received().sort()).toEqual(expected.sort())
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(expected.length)
      expect(rows).toHaveLength(expected.length)
      await receiver.close()
    })

    it('delivers nothing of writes that are rolled back', async () => {
      await register(EDITOR)
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      const { tags } = ledger.tables
      inCommit = () => [((db: { insert: (table: typeof tags) => { values: (row: unknown) => unknown } }) =>
        db.insert(tags).values({ id: 1, name: 'twice' })) as CommitStatement]
      for (const [, requests] of WRITES.slice(0, 12)) await send(...requests.at(-1)! as [string, string, unknown])
      inCommit = () => []
      await send('POST', 'articles/bulk', { items: [{ title: 'a' }, { title: 'one' }] })
      await send('POST', 'articles?dryRun=true', { title: 'a' })
      log.mockRestore()
      expect(await stored()).toEqual([])
      await write('POST', 'articles', { title: 'last' })
      await settled()
      expect(received()).toEqual([expect.stringMatching(/^articles\.created /)])
      await receiver.close()
    })

    it('keeps the whole row before the change until the first attempt, with each value as the API writes it', async () => {
      await register(EDITOR, ['articles.*'])
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      findUser = () => {
        throw new Error('The users cannot be read.')
      }
      const before = (await send('GET', 'articles/1')).body as Record<string, unknown>
      await write('PATCH', 'articles/1', { title: 'other' })
      const [{ image, event } = {}] = await vi.waitFor(async () => {
        const rows = await stored()
        expect(rows).toMatchObject([{ status: 'failed' }])
        return rows
      }, { timeout: 10_000 })
      log.mockRestore()
      expect(event).toBe('articles.updated')
      for (const name of ['id', 'title', 'data', 'price', 'big', 'bytes', 'at', 'organizationId'])
        if (name in before) expect({ name, value: image![name] }).toEqual({ name, value: before[name] })
      await ledger.opened.exec('delete from webhook_deliveries')
      await receiver.close()
    })

    // `eq` encodes the value as the column does.
    it.each<[string, unknown, unknown]>([
      ['id', 1, undefined], ['title', 'one', 'else'], ['price', '12.5', '13'], ['big', 9007199254740993n, '5'],
      ['bytes', Buffer.from('00ff10', 'hex'), 'AAAA'], ['at', new Date('2026-01-01T00:00:00Z'), '2027-01-01T00:00:00.000Z'],
      ['organizationId', 1, undefined],
    ])('reports to an owner the rows that a rule about %s shows, and no others', async (field, value, other) => {
      rule = table => eq(table[field]!, value)
      await register(GUEST, ['articles.*'])
      const isVisible = (id: number) => send('GET', `articles/${id}`, undefined, GUEST).then(({ status }) => status === 200)
      expect(await isVisible(1)).toBe(true)
      const isHidden = !await isVisible(3)
      // It stays hidden, or leaves the sight of the owner.
      if (isHidden) await write('PATCH', 'articles/3', { title: 'three again' })
      if (other !== undefined) await write('PATCH', 'articles/1', { [field]: other })
      await write('DELETE', 'articles/1?force=true')
      const rows = await settled()
      expect(rows.filter(({ record }) => record === '3' && isHidden)).toEqual([])
      expect(receiver.received.map(({ payload: { type, data } }) => [type, data.id, 'record' in data]))
        .toEqual([other === undefined ? ['articles.purged', '1', false] : ['articles.updated', '1', false]])
      await receiver.close()
    })

    it('orders the deliveries of a record as its commits, also those of one batch and of requests at the same time', async () => {
      await register(EDITOR, ['labels.*', 'articles.*'])
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      // The images stay, because nothing can be attempted.
      findUser = () => {
        throw new Error('The users cannot be read.')
      }
      await write('POST', 'batch', { steps: ['a', 'b', 'c'].map(name => ({ resource: 'labels', operation: 'update', id: 2, data: { name } })) })
      await Promise.all(Array.from({ length: 8 }, (_, index) => send('PATCH', 'labels/1', { name: `n${index}` })))
      const rows = await stored()
      log.mockRestore()
      const names = (id: string) => rows.filter(({ record }) => record === id).map(({ image }) => image!.name)
      expect(names('2')).toEqual(['y', 'a', 'b'])
      const [first, ...rest] = names('1')
      expect(first).toBe('x')
      const [[last] = []] = await ledger.opened.all('select name from labels where id = 1')
      expect([...rest, last].sort()).toEqual([...new Set([...rest, last])].sort())
      expect(names('1')).not.toContain(last)
      await ledger.opened.exec('delete from webhook_deliveries')
      await receiver.close()
    })

    it('delivers each event once, and those of a record in order, although two servers share the queue', async () => {
      await register(EDITOR, ['labels.*'])
      const other = await open(ledger.opened)
      const running = new Map<string, number>()
      const overlaps: string[] = []
      await receiver.close()
      receiver = await openReceiver((response, { payload }) => {
        const id = String(payload.data.id)
        if (running.get(id)) overlaps.push(id)
        running.set(id, 1)
        setTimeout(() => {
          running.delete(id)
          response.end('ok')
        }, 3)
      })
      await ledger.opened.exec(`update webhooks set url = '${receiver.url}'`)
      for (let round = 0; round < 30; round++) {
        await Promise.all([ledger, other].map((server, index) => server.request('PATCH', '/api/labels/bulk', {
          body: { items: [1, 2, 3].map(id => ({ id, data: { name: `${round} ${index}` } })) }, caller: { user: { ...EDITOR } },
        })))
      }
      const rows = await settled()
      expect(rows.length).toBeGreaterThan(90)
      const ids = receiver.received.map(({ headers }) => String(headers['webhook-id']).replace('msg_', ''))
      expect(overlaps).toEqual([])
      expect(ids.toSorted()).toEqual(rows.map(({ id }) => id).sort())
      for (const record of ['1', '2', '3']) {
        const ofRecord = rows.filter(row => row.record === record).map(({ id }) => id)
        expect(ids.filter(id => ofRecord.includes(id))).toEqual(ofRecord)
      }
      await receiver.close()
    })

    it('makes no more webhooks than a user can have, by requests at the same time on two servers', async () => {
      const other = await open(ledger.opened)
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      const make = (server: Ledger, items: number) => items === 1
        ? server.request('POST', '/api/webhooks', { body: { url: receiver.url, events: ['labels.*'] }, caller: { user: { ...EDITOR } } })
        : server.request('POST', '/api/webhooks/bulk', {
            body: { items: Array.from({ length: items }, () => ({ url: receiver.url, events: ['labels.*'] })) }, caller: { user: { ...EDITOR } },
          })
      const answers = await Promise.all(Array.from({ length: 28 }, (_, index) =>
        make(index % 2 === 0 ? ledger : other, index % 7 === 0 ? 3 : 1)))
      log.mockRestore()
      const texts = answers.filter(({ status }) => status >= 400).map(({ status, text }) => `${status} ${text}`)
      expect(texts.filter(text => !/^(?:409|503) /.test(text))).toEqual([])
      const [[made] = []] = await ledger.opened.all('select count(*) from webhooks')
      const created = answers.flatMap(({ status, body }) => status < 400 ? (body as { data?: unknown[] }).data ?? [body] : [])
      expect([Number(made), created.length]).toEqual([20, 20])
      await receiver.close()
    })

    it('delivers what a server has claimed that is gone, after the lease and before the later ones of the record', async () => {
      await register(EDITOR, ['labels.*'])
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      findUser = () => {
        throw new Error('The users cannot be read.')
      }
      await write('PATCH', 'labels/1', { name: 'first' })
      await vi.waitFor(async () => expect(await stored()).toMatchObject([{ status: 'failed' }]))
      log.mockRestore()
      findUser = () => EDITOR
      const until = dialect === 'sqlite' ? String(Date.now() + 1500) : dialect === 'pg' ? `now() + interval '1500 ms'` : '?'
      const utc = new Date(Date.now() + 1500).toISOString().replace('T', ' ').replace('Z', '')
      await ledger.opened.exec(`update webhook_deliveries set lease = 'gone', due_at = ${until === '?' ? `'${utc}'` : until}`)
      await write('PATCH', 'labels/1', { name: 'second' })
      await new Promise(resolve => setTimeout(resolve, 500))
      expect(received()).toEqual([])
      await new Promise(resolve => setTimeout(resolve, 1200))
      // Any commit makes a server look for deliveries.
      await write('PATCH', 'labels/2', { name: 'third' })
      const rows = await settled()
      expect(rows).toHaveLength(3)
      const ids = receiver.received.map(({ headers }) => String(headers['webhook-id']).replace('msg_', ''))
      expect(ids.filter(id => rows.some(row => row.id === id && row.record === '1')))
        .toEqual(rows.filter(({ record }) => record === '1').map(({ id }) => id))
      await receiver.close()
    })
  })
})
