/** Joined to-one includes: fewer statements with the same responses. */
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { foreignKey, integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults.ts'
import { createServer } from '../../support/server.ts'

const people = sqliteTable('people', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  status: text('status').notNull(),
  bossId: integer('boss_id').references((): AnySQLiteColumn => people.id),
})
const places = sqliteTable('places', { code: text('code').notNull(), country: text('country').notNull(), name: text('name') }, table => [
  primaryKey({ columns: [table.country, table.code] }),
])
const visits = sqliteTable(
  'visits',
  {
    id: integer('id').primaryKey(),
    status: text('status').notNull(),
    personId: integer('person_id').references(() => people.id),
    guideId: integer('guide_id').references(() => people.id),
    country: text('country'),
    placeId: text('place_id'),
  },
  table => [foreignKey({ columns: [table.country, table.placeId], foreignColumns: [places.country, places.code] })],
)

const read = { permissions: { read: true } } as const
let client: Database.Database
afterEach(() => client.close())

async function open(rules: Partial<Record<'people' | 'places' | 'visits', ResourceAuth>> = {}, config: Partial<AutoApiConfig> = {}) {
  client = new Database(':memory:')
  client.exec(`
    create table people (id integer primary key, name text not null, status text not null, boss_id integer);
    create table places (country text collate nocase not null, code text collate nocase not null, name text, primary key (country, code));
    create table visits (id integer primary key, status text not null, person_id integer, guide_id integer, country text, place_id text);
    insert into people values (1, 'Ann', 'here', null), (2, 'Bob', 'gone', 1), (3, 'Cid', 'here', 2);
    insert into places values ('NL', 'AMS', 'Amsterdam'), ('FR', 'CDG', null);
    insert into visits values (1, 'open', 1, 3, 'NL', 'AMS'), (2, 'open', 2, 2, 'FR', 'CDG'), (3, 'open', null, 1, 'nl', 'ams'), (4, 'shut', 3, 9, null, 'AMS');
  `)
  let sent: string[] = []
  const auth = (name: 'people' | 'places' | 'visits') => ({ ...read, ...rules[name] }) as ResourceAuth
  const server = await createServer({
    db: drizzle({ client, logger: { logQuery: query => void sent.push(query) } }),
    modules: [{ people, places, visits }],
    registrations: [
      { name: 'people', schema: people, authorization: auth('people') },
      { name: 'places', schema: places, authorization: auth('places') },
      { name: 'visits', schema: visits, authorization: auth('visits') },
    ],
    config: { ...DEFAULT_CONFIG, ...config },
  })
  return async (path: string) => {
    sent = []
    const { status, body } = await server.request('GET', `/api/${path}`)
    return { status, body, data: body.data, statements: sent }
  }
}

describe('a single statement', () => {
  it('reads a list and all of its to-one includes, with the same records as separate statements', async () => {
    const get = await open()
    const { data, statements } = await get('visits?include=person[id,name],guide[name],place&count=none&fields=id')
    expect(statements).toHaveLength(1)
    expect(data).toEqual([
      { id: 1, person: { id: 1, name: 'Ann' }, guide: { name: 'Cid' }, place: { country: 'NL', code: 'AMS', name: 'Amsterdam' } },
      { id: 2, person: { id: 2, name: 'Bob' }, guide: { name: 'Bob' }, place: { country: 'FR', code: 'CDG', name: null } },
      // Another spelling of a key is another key on the wire, whatever the column's collation says; half a key is none.
      { id: 3, person: null, guide: { name: 'Ann' }, place: null },
      { id: 4, person: { id: 3, name: 'Cid' }, guide: null, place: null },
    ])
  })

  it('reads a record and its to-one include', async () => {
    const get = await open()
    const { body, statements } = await get('visits/1?include=person[name]&fields=id')
    expect([body, statements.length]).toEqual([{ id: 1, person: { name: 'Ann' } }, 1])
  })

  it('joins a table with itself', async () => {
    const get = await open()
    const { data, statements } = await get('people?include=boss[name]&fields=name&sort=-id&count=none&filter={"status":"here"}')
    expect(data).toEqual([{ name: 'Cid', boss: { name: 'Bob' } }, { name: 'Ann', boss: null }])
    expect(statements).toHaveLength(1)
  })

  it('keeps SQL conditions of the app unambiguous, with or without table names', async () => {
    const get = await open({
      people: { ...read, listFilter: () => sql`status = 'here' and id < 9` },
      visits: { ...read, listFilter: () => sql`status = 'open' and exists (select 1 from people where people.id = guide_id)` },
    })
    const { data, statements } = await get('visits?include=person[name]&fields=id&count=none')
    expect(data).toEqual([{ id: 1, person: { name: 'Ann' } }, { id: 2, person: null }, { id: 3, person: null }])
    expect(statements).toHaveLength(1)
  })

  it('does not change the order, the cursor or the total', async () => {
    const get = await open()
    const first = await get('visits?include=person[name],guide&fields=id&sort=-status&limit=2&cursor=')
    const second = await get(`visits?include=person[name]&fields=id&sort=-status&limit=2&cursor=${first.body.meta.nextCursor}`)
    expect([first, second].map(({ data }) => data.map(({ id }: { id: number }) => id))).toEqual([[4, 3], [2, 1]])
    expect((await get('visits?include=person&limit=1')).body.meta.total).toBe(4)
  })
})

describe('a separate statement', () => {
  it.each([
    [
      'what is hidden row by row',
      { people: { ...read, objectLevel: (row: Record<string, unknown>) => row.status === 'here' } },
      'visits?include=person[name]&fields=id&count=none',
      [{ name: 'Ann' }, null, null, { name: 'Cid' }],
    ],
    [
      'what is hidden row by row on the list\'s side',
      { visits: { ...read, objectLevel: (row: Record<string, unknown>) => row.id !== 3 } },
      'visits?include=person[name]&fields=id&count=none',
      [{ name: 'Ann' }, { name: 'Bob' }, { name: 'Cid' }],
    ],
    [
      'what has includes of its own',
      {},
      'visits?include=person[name].boss[name]&fields=id&count=none',
      [{ name: 'Ann', boss: null }, { name: 'Bob', boss: { name: 'Ann' } }, null, { name: 'Cid', boss: { name: 'Bob' } }],
    ],
  ])('reads %s', async (_, rules, path, expected) => {
    const get = await open(rules as Parameters<typeof open>[0])
    const { data, statements } = await get(path)
    expect(data.map(({ person }: { person: unknown }) => person)).toEqual(expected)
    expect(statements.length).toBeGreaterThan(1)
  })
})

it('counts joined records against the limit on included records', async () => {
  const limited = (maxRows: number) => ({ relations: { ...DEFAULT_CONFIG.relations, maxRows } })
  const three = await open({}, limited(3))
  expect((await three('visits?include=person&count=none')).status).toBe(200)
  client.close()
  const two = await open({}, limited(2))
  expect((await two('visits?include=person&count=none')).status).toBe(400)
})
