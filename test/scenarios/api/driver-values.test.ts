/** Only scalars reach a driver: older mysql2 writes an object as `key = value` and so into other columns. */
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { customType, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { DRIVERS } from '../../../src/runtime/server/engines/drivers'
import { createServer, type TestServer } from '../../support/server'

const bare = customType<{ data: unknown }>({ dataType: () => 'text' })
const coded = customType<{ data: { code: string }, driverData: string }>({ dataType: () => 'text',
  toDriver: value => value.code.toUpperCase(), fromDriver: code => ({ code }) })
const passing = customType<{ data: unknown }>({ dataType: () => 'text', toDriver: value => value })
const upper = customType<{ data: string }>({ dataType: () => 'text', toDriver: value => sql`upper(${value})` })

const people = sqliteTable('people', {
  id: integer('id').primaryKey({ autoIncrement: true }), name: text('name'), role: text('role').notNull().default('user'),
  nick: bare('nick'), coded: coded('coded'), passing: passing('passing'), upper: upper('upper'), hooked: bare('hooked'),
})
const groups = sqliteTable('groups', { id: integer('id').primaryKey() })
const peopleGroups = sqliteTable('people_groups', { personId: integer('person_id').notNull().references(() => people.id),
  groupId: integer('group_id').notNull().references(() => groups.id), note: bare('note') }, t => [primaryKey({ columns: [t.personId,
  t.groupId] })])

const OBJECTS: unknown[] = [{ name: 'x', role: 'admin' }, {}, [], ['a'], [[1]], { toString: 'a' }]

let client: Database.Database
let server: TestServer
let values: unknown[] = []

beforeAll(async () => {
  client = new Database(':memory:')
  client.exec(`
    create table people (id integer primary key autoincrement, name text, role text not null default 'user', nick text, coded text,
      passing text, upper text, hooked text);
    create table groups (id integer primary key);
    create table people_groups (person_id integer not null, group_id integer not null, note text, primary key (person_id, group_id));
  `)
  const logger = { logQuery: (_text: string, sent: unknown[]) => void values.push(...sent) }
  const permissions = { read: true as const, create: true as const, update: true as const, delete: true as const }
  const open = z.looseObject({})
  server = await createServer({
    db: drizzle({ client, logger }), modules: [{ people, groups, peopleGroups }],
    registrations: [
      { name: 'people', schema: people, authorization: { permissions } },
      { name: 'loose', schema: people, authorization: { permissions }, validation: { create: open, update: open } },
      { name: 'hooked', schema: people, authorization: { permissions }, hooks: { beforeUpdate: (_id, data) => ({ ...data,
        hooked: { name: 'x', role: 'admin' } }) } },
      { name: 'groups', schema: groups, authorization: { permissions } },
    ],
  })
})
afterAll(() => client.close())

beforeEach(() => {
  values = []
  client.exec(
    `delete from people_groups; delete from people; delete from groups; insert into people (id, name, nick, coded, upper) values (1, 'a', 'n', 'C', 'U'); insert into groups values (1), (2)`,
  )
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

afterEach(() => {
  vi.restoreAllMocks()
  expect(values.filter(value => value !== null && typeof value === 'object')).toEqual([])
})

const dump = () => JSON.stringify([client.prepare('select * from people').all(), client.prepare('select * from people_groups').all()])
const ask = async (method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await server.request(method, `/api/${path}`, { body })
  return { status, code: answer?.data?.code, answer }
}

describe.each(['people', 'loose'])('an object in a column of a custom type without toDriver: %s', (resource) => {
  it.each(OBJECTS.map(value => [JSON.stringify(value), value]))('is a 400 that names the field, and nothing is written: %s', async (_text,
    nick) => {
    const before = dump()
    for (const [method, path, body] of [['POST', '', { nick }], ['PATCH', '/1', { nick }]] as const) {
      const { status, code, answer } = await ask(method, `${resource}${path}`, body)
      expect([status, code, answer.data.issues[0].path]).toEqual([400, 'VALIDATION_FAILED', ['nick']])
    }
    expect((await ask('POST', `${resource}/bulk`, { items: [{ nick: 'a' }, { nick }] })).status).toBe(400)
    expect((await ask('PATCH', `${resource}/bulk`, { items: [{ id: 1, data: { nick } }] })).status).toBe(400)
    expect(dump()).toBe(before)
  })

  it.each(OBJECTS.map(value => [JSON.stringify(value), value]))('is a 400 in a filter: %s', async (_text, nick) => {
    for (const condition of [{ $eq: nick }, { $in: ['a', nick] }, { $gt: nick }]) {
      expect((await ask('GET', `${resource}?filter=${encodeURIComponent(JSON.stringify({ nick: condition }))}`)).code).toBe('INVALID_VALUE')
    }
  })

  it.each(['text', '5', 5, 1.5, true])('a scalar is written and found: %j', async (nick) => {
    expect((await ask('PATCH', `${resource}/1`, { nick })).status).toBe(200)
    expect((await ask('GET', `${resource}?filter=${encodeURIComponent(JSON.stringify({ nick }))}`)).answer.data).toHaveLength(1)
  })
})

describe('a custom type with toDriver', () => {
  it.each(['abc', 5, {}, { code: 1 }, null])('that cannot take a value refuses it with a 400, or takes null: %j', async (value) => {
    expect((await ask('PATCH', 'people/1', { coded: value })).status).toBe(value === null ? 200 : 400)
    if (value !== null) expect((await ask('GET',
      `people?filter=${encodeURIComponent(JSON.stringify({ coded: { $in: [value] } }))}`)).code).toBe('INVALID_VALUE')
    expect((await ask('GET', 'people?filter[coded]=abc')).code).toBe('INVALID_VALUE')
  })

  it('that returns an object for a value refuses that value', async () => {
    expect((await ask('PATCH', 'people/1', { passing: { a: 1 } })).code).toBe('VALIDATION_FAILED')
    expect((await ask('PATCH', 'people/1', { passing: 'a' })).status).toBe(200)
  })

  it('accepts a value that it converts to text', async () => {
    expect((await ask('PATCH', 'people/1', { coded: { code: 'abc' } })).answer.coded).toEqual({ code: 'ABC' })
  })

  it('that returns SQL is written and found by it, in lists too', async () => {
    expect((await ask('PATCH', 'people/1', { upper: 'abc' })).answer.upper).toBe('ABC')
    for (const condition of ['abc', { $in: ['x', 'abc'] }, { $nin: ['x'] }]) {
      expect((await ask('GET', `people?filter=${encodeURIComponent(JSON.stringify({ upper: condition }))}`)).answer.data).toHaveLength(1)
    }
  })
})

it('an object in the metadata of a link is a 400', async () => {
  expect((await ask('POST', 'people/1/relations/groups', { ids: [1], metadata: { note: { a: 1 } } })).code).toBe('VALIDATION_FAILED')
  expect((await ask('POST', 'people/1/relations/groups', { ids: [1], metadata: { note: 'a' } })).status).toBe(200)
})

it('an object that a hook sets is a 500 whose log names the column, and nothing is written', async () => {
  const before = dump()
  expect((await ask('PATCH', 'hooked/1', { name: 'b' })).status).toBe(500)
  expect(vi.mocked(console.error).mock.calls.map(call => call.map(String).join(' ')).join()).toContain('`people.hooked`')
  expect(dump()).toBe(before)
})

it('never passes an object to MySQL\'s drivers, not even from SQL of the app', async () => {
  const db = { session: { prepareQuery: () => ({ execute: () => [] }) } }
  expect(await DRIVERS.mysql.rows(db as never, { text: 'select ?', values: ['a', 1, 1n, null, new Date(0), Buffer.from('a')] })).toEqual([])
  for (const value of [{ name: 'x' }, ['a'], Number.NaN, new Date(Number.NaN), () => 1]) {
    expect(() => DRIVERS.mysql.rows(db as never, { text: 'select ?', values: ['a', value] })).toThrow('Parameter 2')
  }
})
