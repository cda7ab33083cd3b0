/** What requests get that D1 refuses for a size, and how many statements of D1 they need. */
import { drizzle } from 'drizzle-orm/d1'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { openD1, type LocalD1 } from '../../support/d1'
import { createServer, type TestServer } from '../../support/server'

/** With the id, the most columns that a table of D1 can have. The names are as long as the limit of the text of a statement needs. */
const NAMES = Array.from({ length: 99 }, (_, index) => `a_column_whose_name_is_rather_long_${index}`)
const notes = sqliteTable('notes', { id: integer().primaryKey({ autoIncrement: true }), title: text(), body: text() })
const wide = sqliteTable('wide', { id: integer().primaryKey({ autoIncrement: true }), ...Object.fromEntries(NAMES.map(name => [name, text(name)])) })
const entries = sqliteTable('entries', { id: integer().primaryKey(), note: text(), wideId: integer('wide_id').references(() => wide.id) })

let local: LocalD1
let server: TestServer
/** The requests to D1, each with its number of statements. */
let sent: number[] = []
let texts: string[] = []
/** What D1 throws instead of running a statement. */
let failure: string | undefined

/** Counts what the API sends to D1. A statement outside of a batch is a request of its own. */
function counting(d1: LocalD1['d1']): object {
  const note = (statements: number) => {
    sent.push(statements)
    if (failure !== undefined) throw new Error(failure)
  }
  const originals = new WeakMap<object, object>()
  const wrap = (statement: Record<string, (...values: unknown[]) => unknown>): object => {
    const run = (method: string) => async (...values: unknown[]) => {
      note(1)
      return await statement[method]!(...values)
    }
    const bind = (...values: unknown[]) => wrap(statement.bind!(...values) as typeof statement)
    const wrapped = { bind, all: run('all'), run: run('run'), raw: run('raw'), first: run('first') }
    originals.set(wrapped, statement)
    return wrapped
  }
  return {
    prepare(text: string) {
      texts.push(text)
      return wrap(d1.prepare(text) as never)
    },
    batch: async (statements: object[]) => {
      note(statements.length)
      return await d1.batch(statements.map(each => originals.get(each)!) as never)
    },
  }
}

beforeAll(async () => {
  local = await openD1()
  await local.exec(`
    create table notes (id integer primary key autoincrement, title text, body text);
    create table wide (id integer primary key autoincrement, ${NAMES.map(name => `${name} text`).join()});
    create table entries (id integer primary key, note text, wide_id integer references wide(id))
  `)
  const authorization = { permissions: { read: true, create: true, update: true, delete: true } }
  server = await createServer({
    registrations: Object.entries({ notes, wide, entries }).map(([name, schema]) => ({ name, schema, authorization })) as never,
    engine: 'd1',
    db: drizzle(counting(local.d1) as never),
    config: { http: { ...DEFAULT_CONFIG.http, maxBodySize: 20_000_000 } },
  })
})

afterAll(() => local.close())

async function ask(method: string, path: string, body?: unknown) {
  sent = []
  const answer = await server.request(method, `/api/${path}`, { body })
  return { status: answer.status, body: answer.body, sent: [...sent] }
}

const MEGABYTE = 1_000_000

describe('a value or a row beyond 2 MB', () => {
  it.each([
    ['a value', { body: 'x'.repeat(2.3 * MEGABYTE) }],
    ['a row', { title: 'x'.repeat(1.2 * MEGABYTE), body: 'x'.repeat(1.2 * MEGABYTE) }],
  ])('is a 400, and nothing is written: %s', async (_what, data) => {
    const before = await local.rows('select count(*) from notes')
    const { body: { id } } = await ask('POST', 'notes', { title: 'short' })
    for (const [method, path, body] of [
      ['POST', 'notes', data],
      ['PATCH', `notes/${id}`, data],
      ['POST', 'notes/bulk', { items: [{ title: 'fits' }, data] }],
    ] as const) {
      const { status, body: { data: { code, issues, errors } } } = await ask(method, path, body)
      expect([status, code]).toEqual([400, path === 'notes/bulk' ? 'BULK_FAILED' : 'VALIDATION_FAILED'])
      if (issues) expect(issues).toEqual([{ path: [], message: 'A value is not allowed.', code: 'check' }])
      else expect(errors).toHaveLength(1)
    }
    expect(await local.rows(`select title, body from notes where id = ${id}`)).toEqual([['short', null]])
    expect((await ask('DELETE', `notes/${id}`)).status).toBe(200)
    expect(await local.rows('select count(*) from notes')).toEqual(before)
  })

  it('is accepted below it', async () => {
    const { status, body: { id } } = await ask('POST', 'notes', { body: 'x'.repeat(1.9 * MEGABYTE) })
    expect(status).toBe(201)
    expect((await local.rows(`select length(body) from notes where id = ${id}`))).toEqual([[1.9 * MEGABYTE]])
  })
})

// A statement with more than 100 values sends them as JSON. A quotation mark takes two characters there.
it('counts as JSON in a bulk write of more than a hundred values', async () => {
  const items = (body: string) => Array.from({ length: 60 }, (_, index) => ({ title: `quote ${index}`, body: index === 30 ? body : 'short' }))
  const before = await local.rows('select count(*) from notes')
  const { status, body: { data: { code } } } = await ask('POST', 'notes/bulk', { items: items('"'.repeat(1.5 * MEGABYTE)) })
  expect([status, code]).toEqual([400, 'BULK_FAILED'])
  expect(await local.rows('select count(*) from notes')).toEqual(before)
  expect((await ask('POST', 'notes/bulk', { items: items('x'.repeat(1.5 * MEGABYTE)) })).status).toBe(200)
})

describe('the statements of a request', () => {
  it('are few for reads and for writes of one record', async () => {
    const created = await ask('POST', 'notes', { title: 'one' })
    const { id } = created.body
    expect({
      create: created.sent,
      list: (await ask('GET', 'notes?fields=id')).sent,
      read: (await ask('GET', `notes/${id}?fields=id`)).sent,
      update: (await ask('PATCH', `notes/${id}`, { title: 'two' })).sent,
      delete: (await ask('DELETE', `notes/${id}`)).sent,
    }).toEqual({ create: [1], list: [1, 1], read: [1], update: [1, 1], delete: [1, 1] })
  })

  it('are at most 201 for a hundred records, in at most two requests to D1', async () => {
    const created = await ask('POST', 'notes/bulk', { items: Array.from({ length: 100 }, (_, index) => ({ title: `note ${index}` })) })
    const ids = (created.body.data as { id: number }[]).map(({ id }) => id)
    expect({
      create: created.sent,
      update: (await ask('PATCH', 'notes/bulk', { items: ids.map(id => ({ id, data: { title: `${id}` } })) })).sent,
      delete: (await ask('DELETE', 'notes/bulk', { ids })).sent,
    }).toEqual({ create: [1], update: [1, 200], delete: [1, 2] })
  })
})

describe('a table of a hundred columns', () => {
  const record = (value: string) => Object.fromEntries(NAMES.map(name => [name, value]))

  it('is written in statements below 100 kB, and read', async () => {
    texts = []
    const { status, body } = await ask('POST', 'wide/bulk', { items: Array.from({ length: 100 }, (_, index) => record(`v${index}`)) })
    expect([status, body.meta]).toMatchObject([200, { successful: 100 }])
    expect(Math.max(...texts.map(text => Buffer.byteLength(text)))).toBeLessThan(100_000)
    expect((await ask('GET', 'wide?limit=100')).body.data).toEqual(body.data)
    expect((await ask('PATCH', `wide/${body.data[0].id}`, record('new'))).body).toMatchObject(record('new'))
  })

  it('is read in a statement of its own as an include, because a result has at most a hundred columns', async () => {
    const { body: { id: wideId } } = await ask('POST', 'wide', record('included'))
    await ask('POST', 'entries', { id: 1, note: 'first', wideId })
    const { body, sent } = await ask('GET', 'entries/1?include=wide')
    expect(body).toMatchObject({ note: 'first', wide: record('included') })
    expect(sent).toEqual([1, 1])
  })
})

describe('a D1 that is overloaded', () => {
  // It refuses the request before it runs a statement.
  it.each([
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
  ])('is a 503 for reads and writes: %s', async (message) => {
    const before = await local.rows('select count(*) from notes')
    failure = message
    try {
      for (const [method, body] of [['GET'], ['POST', { title: 'late' }]] as const) {
        const { status, body: { data } } = await ask(method, 'notes', body)
        expect([method, status, data.code]).toEqual([method, 503, 'BUSY'])
      }
    }
    finally {
      failure = undefined
    }
    expect(await local.rows('select count(*) from notes')).toEqual(before)
  })

  it('is not a write that was interrupted, which can be complete', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    failure = 'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.'
    try {
      expect((await ask('POST', 'notes', { title: 'late' })).status).toBe(500)
      expect(logged).toHaveBeenCalled()
    }
    finally {
      failure = undefined
      logged.mockRestore()
    }
  })
})
