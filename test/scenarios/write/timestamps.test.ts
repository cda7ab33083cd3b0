/** Tests that `createdAt` and `updatedAt` of a new row are equal, whether the server or a default of the table sets them. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { timestamps } from '../../../src/runtime/plugins/schema-sqlite'
import { openWorld, type World } from './world'

/** A clock that advances by a millisecond each time it is read. */
let clock = Date.UTC(2026, 0, 1)
const later = () => new Date(clock++)

const id = () => ({ id: integer('id').primaryKey(), title: text('title') })
const date = (name: string) => integer(name, { mode: 'timestamp_ms' })
const tables = {
  presets: sqliteTable('presets', { ...id(), ...timestamps() }),
  dates: sqliteTable('dates', {
    ...id(),
    createdAt: date('created_at').$defaultFn(later),
    updatedAt: date('updated_at').$onUpdateFn(later),
  }),
  numbers: sqliteTable('numbers', {
    ...id(),
    createdAt: integer('created_at').$defaultFn(() => later().getTime()),
    updatedAt: integer('updated_at'),
  }),
  texts: sqliteTable('texts', {
    ...id(),
    createdAt: text('created_at').$defaultFn(() => later().toISOString()),
    updatedAt: text('updated_at').$onUpdateFn(() => later().toISOString()),
  }),
  plain: sqliteTable('plain', { ...id(), createdAt: date('created_at'), updatedAt: date('updated_at') }),
  seconds: sqliteTable('seconds', {
    ...id(),
    createdAt: integer('created_at').$defaultFn(() => Math.floor(later().getTime() / 1000)),
    updatedAt: integer('updated_at'),
  }),
  fixed: sqliteTable('fixed', { ...id(), createdAt: date('created_at').$defaultFn(() => new Date(0)), updatedAt: date('updated_at') }),
}

let world: World
beforeAll(async () => {
  world = await openWorld({ tables })
})
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: clock })
  return () => void vi.useRealTimers()
})
afterAll(() => world.client.close())

describe('a new row', () => {
  it.each(['presets', 'dates', 'numbers', 'texts', 'plain'])(
    'has equal `createdAt` and `updatedAt`, whether the table or the server sets them: %s',
    async (name) => {
      vi.setSystemTime(clock)
      const { status, body } = await world.send('POST', name, { title: 'one' })
      expect([status, body.updatedAt]).toEqual([201, body.createdAt])
      const bulk = await world.send('POST', `${name}/bulk`, { items: [{ title: 'two' }, { title: 'three' }] })
      for (const record of bulk.body.data) expect(record.updatedAt).toBe(record.createdAt)
    },
  )

  it('keeps the default of the table for `createdAt` when it has another format or is not the current time', async () => {
    vi.setSystemTime(clock)
    expect((await world.send('POST', 'seconds', {})).body.createdAt).toBe(Math.floor(clock / 1000))
    expect((await world.send('POST', 'fixed', {})).body.createdAt).toBe('1970-01-01T00:00:00.000Z')
  })
})
