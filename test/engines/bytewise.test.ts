/** On every engine tenants and keys are compared byte for byte, whatever the collation of their columns. */
import { datetime, mysqlTable, primaryKey as mysqlKey, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import {
  customType,
  integer as pgInteger,
  pgTable,
  primaryKey as pgKey,
  text as pgText,
  timestamp,
  type AnyPgColumn,
  type PgTextBuilderInitial,
} from 'drizzle-orm/pg-core'
import { integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'
import { createServer, type TestServer } from '../support/server'
import { DRIVER_CASES, ENGINE_CASES, isAvailable, type EngineCase, type Opened } from './support/databases'

function sqliteTables() {
  const items = sqliteTable('items', {
    id: text('id').primaryKey(),
    organizationId: text('organization_id').notNull(),
    title: text('title'),
    deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
    deletionId: text('deletion_id'),
  })
  const parts = sqliteTable('parts', {
    id: text('id').primaryKey(),
    itemId: text('item_id').references((): AnySQLiteColumn => items.id),
    deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
    deletionId: text('deletion_id'),
  })
  const marks = sqliteTable('marks', {
    id: text('id').primaryKey(),
    itemId: text('item_id').references((): AnySQLiteColumn => items.id, { onDelete: 'set null' }),
  })
  const locks = sqliteTable('locks', {
    id: text('id').primaryKey(),
    itemId: text('item_id').references((): AnySQLiteColumn => items.id, { onDelete: 'restrict' }),
  })
  const tags = sqliteTable('tags', { id: text('id').primaryKey() })
  const itemTags = sqliteTable(
    'item_tags',
    { itemId: text('item_id').references(() => items.id), tagId: text('tag_id').references(() => tags.id) },
    t => [primaryKey({ columns: [t.itemId, t.tagId] })],
  )
  return { items, parts, marks, locks, tags, itemTags }
}

function postgresTables(type: string) {
  const citext = customType<{ data: string }>({ dataType: () => 'citext' })
  const word = (name: string) =>
    type === 'citext' ? (citext(name) as unknown as PgTextBuilderInitial<string, [string, ...string[]]>) : pgText(name)
  const trash = () => ({ deletedAt: timestamp('deleted_at', { withTimezone: true }), deletionId: pgText('deletion_id') })
  const items = pgTable('items', {
    id: word('id').primaryKey(),
    organizationId: word('organization_id').notNull(),
    title: pgText('title'),
    ...trash(),
  })
  const parts = pgTable('parts', {
    id: word('id').primaryKey(),
    itemId: word('item_id').references((): AnyPgColumn => items.id),
    ...trash(),
  })
  const marks = pgTable('marks', {
    id: word('id').primaryKey(),
    itemId: word('item_id').references((): AnyPgColumn => items.id, { onDelete: 'set null' }),
  })
  const locks = pgTable('locks', {
    id: word('id').primaryKey(),
    itemId: word('item_id').references((): AnyPgColumn => items.id, { onDelete: 'restrict' }),
  })
  const tags = pgTable('tags', { id: word('id').primaryKey() })
  const itemTags = pgTable(
    'item_tags',
    { itemId: word('item_id').references(() => items.id), tagId: word('tag_id').references(() => tags.id) },
    t => [pgKey({ columns: [t.itemId, t.tagId] })],
  )
  return { items, parts, marks, locks, tags, itemTags }
}

function mysqlTables() {
  const word = (name: string) => varchar(name, { length: 40 })
  const trash = () => ({ deletedAt: datetime('deleted_at', { fsp: 3 }), deletionId: varchar('deletion_id', { length: 36 }) })
  const items = mysqlTable('items', {
    id: word('id').primaryKey(),
    organizationId: word('organization_id').notNull(),
    title: word('title'),
    ...trash(),
  })
  const parts = mysqlTable('parts', {
    id: word('id').primaryKey(),
    itemId: word('item_id').references((): AnyMySqlColumn => items.id),
    ...trash(),
  })
  const marks = mysqlTable('marks', {
    id: word('id').primaryKey(),
    itemId: word('item_id').references((): AnyMySqlColumn => items.id, { onDelete: 'set null' }),
  })
  const locks = mysqlTable('locks', {
    id: word('id').primaryKey(),
    itemId: word('item_id').references((): AnyMySqlColumn => items.id, { onDelete: 'restrict' }),
  })
  const tags = mysqlTable('tags', { id: word('id').primaryKey() })
  const itemTags = mysqlTable(
    'item_tags',
    { itemId: word('item_id').references(() => items.id), tagId: word('tag_id').references(() => tags.id) },
    t => [mysqlKey({ columns: [t.itemId, t.tagId] })],
  )
  return { items, parts, marks, locks, tags, itemTags }
}

const TABLES = { sqlite: sqliteTables, pg: postgresTables, mysql: mysqlTables }
const TIMES = { sqlite: 'integer', pg: 'timestamptz', mysql: 'datetime(3)' }

/** Types of columns that take other spellings for equal, and which spellings of `acme` they take for it. */
const LOOSE: Record<EngineCase['dialect'], { type: string, setUp: string, spellings: string[] }[]> = {
  sqlite: [{ type: 'text collate nocase', setUp: '', spellings: ['ACME'] }],
  pg: [
    { type: 'citext', setUp: 'create extension citext;', spellings: ['ACME'] },
    {
      type: 'text collate loose',
      setUp: 'create collation loose (provider = icu, locale = \'und-u-ks-level1\', deterministic = false);',
      spellings: ['ACME', 'ácmé'],
    },
  ],
  mysql: [{ type: 'varchar(40) character set utf8mb4 collate utf8mb4_general_ci', setUp: '', spellings: ['ACME', 'ácmé', 'acme '] }],
}

const ROWS = `
  insert into items (id, organization_id, title) values ('a1', 'acme', 'ours'), ('a2', 'acme', 'ours'), ('a3', 'acme', 'ours'), ('a4', 'acme', 'ours');
  insert into parts (id, item_id) values ('p1', 'a1'), ('p2', 'A1'), ('p3', 'a2'), ('p4', 'A2');
  insert into marks values ('m1', 'a1'), ('m2', 'A1');
  insert into locks values ('l1', 'A1'), ('l2', 'A2'), ('l4', 'a4');
  insert into tags values ('t1'), ('t2');
  insert into item_tags values ('a3', 't1'), ('A1', 't1'), ('a1', 'T2');
`
const CLEAR = 'delete from item_tags; delete from tags; delete from locks; delete from marks; delete from parts; delete from items;'
const OPEN = { permissions: { read: true, create: true, update: true, delete: true, aggregate: true } }

// The Postgres in WebAssembly has neither citext nor collations of ICU.
const CASES = ENGINE_CASES.filter(({ name }) => name !== 'pglite').flatMap(engineCase =>
  LOOSE[engineCase.dialect].map(loose => ({ ...engineCase, ...loose })),
)

describe.each(CASES)('$name, $type', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('keys', () => {
    const { type, setUp, spellings, dialect } = engineCase
    let opened: Opened
    let server: TestServer
    const as = (tenantId: string) => ({ user: { id: 1 }, tenantId })
    const ask = (method: string, path: string, body?: unknown, tenant = 'acme') =>
      server.request(method, `/api/${path}`, { body, caller: as(tenant) })
    const dump = async () =>
      Promise.all(
        ['items', 'parts', 'marks', 'locks', 'tags', 'item_tags'].map(async name =>
          (await opened.all(`select * from ${name}`)).sort((a, b) => (String(a) < String(b) ? -1 : 1)),
        ),
      )
    const ids = async (path: string) => (await ask('GET', path)).body.data.map(({ id }: { id: string }) => id)

    beforeAll(async () => {
      opened = await engineCase.open()
      const word = type
      const trash = `deleted_at ${TIMES[dialect]}, deletion_id varchar(36)`
      await opened.exec(`${setUp}
        create table items (id ${word} primary key, organization_id ${word} not null, title varchar(40), ${trash});
        create table parts (id ${word} primary key, item_id ${word}, ${trash});
        create table marks (id ${word} primary key, item_id ${word});
        create table locks (id ${word} primary key, item_id ${word});
        create table tags (id ${word} primary key);
        create table item_tags (item_id ${word}, tag_id ${word}, primary key (item_id, tag_id));
      `)
      const { itemTags, ...tables } = TABLES[dialect](type)
      server = await createServer({
        db: opened.db, engine: engineCase.engine, modules: [{ ...tables, itemTags }],
        registrations: Object.entries(tables).map(([name, schema]) => ({ name, schema, authorization: OPEN })),
        config: { multiTenancy: DEFAULT_MULTI_TENANCY },
      })
    })
    beforeEach(() => opened.exec(CLEAR + ROWS))
    afterAll(() => opened?.close())

    it('of the tenant: the database considers the spellings equal, as this test requires', async () => {
      for (const spelling of spellings)
        expect(await opened.all(`select count(*) from items where organization_id = '${spelling}'`)).toEqual([
          [expect.toSatisfy(value => Number(value) === 4)],
        ])
    })

    it.each(spellings)('of the tenant: a caller of %j sees and counts none of the rows of "acme"', async (tenant) => {
      for (const path of [
        'items',
        'items?cursor=',
        'items?count=none',
        'items?onlyDeleted=true',
        'items?filter={"organizationId":"acme"}',
        'parts?include=item',
      ]) {
        const { status, body } = await ask('GET', path, undefined, tenant)
        expect([path, status, body.data.filter((row: { item?: unknown }) => !('item' in row) || row.item !== null)]).toEqual([
          path,
          200,
          [],
        ])
        if (path === 'items') expect(body.meta.total).toBe(0)
      }
      expect((await ask('GET', 'items/aggregate?aggregate=count,min(title)', undefined, tenant)).body.data).toEqual([
        { count: 0, min_title: null },
      ])
      expect((await ask('GET', 'items/aggregate?groupBy=title', undefined, tenant)).body).toEqual({ data: [], meta: { total: 0 } })
      expect((await ask('GET', 'items/permissions?ids=a1', undefined, tenant)).body.records).toEqual({
        a1: { canRead: false, canUpdate: false, canDelete: false },
      })
      expect((await ask('GET', 'tags/t1?include=items', undefined, tenant)).body.items).toEqual([])
      expect((await ask('GET', 'tags/t1/relations/items', undefined, tenant)).body.data).toEqual([])
      expect((await ask('GET', 'items/a1', undefined, tenant)).status).toBe(404)
    })

    it.each(spellings)('of the tenant: a caller of %j changes, links and refers to none of the rows of "acme"', async (tenant) => {
      const before = await dump()
      const asked: [method: string, path: string, body: unknown, status: number][] = [
        ['PATCH', 'items/a1', { title: 'taken' }, 404],
        ['DELETE', 'items/a1', undefined, 404],
        ['DELETE', 'items/a1?force=true', undefined, 404],
        ['POST', 'items/a1/restore', undefined, 404],
        ['PATCH', 'items/bulk', { items: [{ id: 'a1', data: { title: 'taken' } }] }, 404],
        ['DELETE', 'items/bulk', { ids: ['a1', 'a2'] }, 404],
        ['DELETE', 'items/bulk?force=true', { ids: ['a1', 'a2'] }, 404],
        ['POST', 'parts', { id: 'new', itemId: 'a1' }, 400],
        ['PATCH', 'parts/p1', { itemId: 'a2' }, 400],
        ['POST', 'tags/t2/relations/items', { ids: ['a1'] }, 404],
        ['POST', 'items/a2/relations/tags', { ids: ['t1'] }, 404],
      ]
      for (const [method, path, body, status] of asked)
        expect([method, path, (await ask(method, path, body, tenant)).status]).toEqual([method, path, status])
      expect((await ask('PUT', 'tags/t1/relations/items', { ids: [] }, tenant)).body).toEqual({ added: 0, removed: 0, total: 0 })
      expect(await dump()).toEqual(before)
    })

    it('of the tenant: a new row has the spelling of the caller, and only that tenant sees it', async () => {
      const [tenant] = spellings as [string]
      expect((await ask('POST', 'items', { id: 'new' }, tenant)).body.organizationId).toBe(tenant)
      expect([(await ask('GET', 'items/new', undefined, tenant)).status, (await ask('GET', 'items/new')).status]).toEqual([200, 404])
    })

    it('in paths, ids and batches match no row of another spelling', async () => {
      const before = await dump()
      for (const [method, path, body] of [
        ['GET', 'items/A1', undefined],
        ['PATCH', 'items/A1', { title: 'x' }],
        ['DELETE', 'items/A1', undefined],
        ['DELETE', 'items/bulk', { ids: ['a1', 'A2'] }],
        ['GET', 'items/A1/relations/tags', undefined],
        ['POST', 'items/a1/relations/tags', { ids: ['T1'] }],
      ] as const) {
        expect([method, path, (await ask(method, path, body)).status]).toEqual([method, path, 404])
      }
      expect((await ask('GET', 'items/permissions?ids=A1,a1')).body.records).toMatchObject({
        A1: { canRead: false },
        a1: { canRead: true },
      })
      expect(await dump()).toEqual(before)
    })

    it('that a new row references must have the spelling of the referenced row', async () => {
      expect((await ask('POST', 'parts', { id: 'p9', itemId: 'A1' })).body.data).toEqual({ code: 'INVALID_REFERENCE', field: 'itemId' })
      expect((await ask('POST', 'parts', { id: 'p9', itemId: 'a1' })).status).toBe(201)
    })

    it('join only equal bytes in includes, relation routes and links', async () => {
      expect((await ask('GET', 'items/a1?include=parts[id],tags')).body).toMatchObject({ parts: [{ id: 'p1' }], tags: [] })
      expect(
        (await ask('GET', 'parts?include=item[id]')).body.data.map(({ id, item }: { id: string, item: { id: string } | null }) => [
          id,
          item?.id,
        ]),
      ).toEqual([
        ['p1', 'a1'],
        ['p2', undefined],
        ['p3', 'a2'],
        ['p4', undefined],
      ])
      expect([await ids('items/a1/relations/parts'), await ids('items/a1/relations/tags'), await ids('tags/t1/relations/items')]).toEqual([
        ['p1'],
        [],
        ['a3'],
      ])
      expect((await ask('PUT', 'items/a1/relations/tags', { ids: [] })).body).toEqual({ added: 0, removed: 0, total: 0 })
    })

    it('match only equal bytes in filters over relations', async () => {
      const found = (resource: string, filter: object) => ids(`${resource}?filter=${encodeURIComponent(JSON.stringify(filter))}`)
      expect(await found('parts', { item: { title: 'ours' } })).toEqual(['p1', 'p3'])
      expect(await found('parts', { $or: [{ item: { title: 'ours' } }, { id: 'p4' }] })).toEqual(['p1', 'p3', 'p4'])
      expect(await found('parts', { item: null })).toEqual(['p2', 'p4'])
      expect(await found('items', { parts: { id: { $ne: 'none' } } })).toEqual(['a1', 'a2'])
      expect(await found('items', { parts: { id: ['p2', 'p4'] } })).toEqual([])
      expect(await found('items', { tags: { id: { $ne: 'none' } } })).toEqual(['a3'])
      expect(await found('items', { tags: null })).toEqual(['a1', 'a2', 'a4'])
      expect(await found('tags', { items: { parts: null } })).toEqual(['t1'])
      expect(await found('tags', { items: { parts: { id: { $ne: 'none' } } } })).toEqual([])
    })

    it('cascade a delete and a restore to their own children only', async () => {
      expect((await ask('DELETE', 'items/a1')).status).toBe(200)
      const trashed = async () => (await opened.all('select id from parts where deleted_at is not null order by id')).flat()
      expect(await trashed()).toEqual(['p1'])
      await opened.exec(
        `update parts set deleted_at = (select deleted_at from items where id = 'a1'), deletion_id = (select deletion_id from items where id = 'a1') where id = 'p2'`,
      )
      expect((await ask('POST', 'items/a1/restore')).status).toBe(200)
      expect(await trashed()).toEqual(['p2'])
    })

    it('cascade a purge to their own children only, and only those are cleared or restrict it', async () => {
      expect((await ask('DELETE', 'items/a1?force=true')).status).toBe(200)
      expect((await ask('DELETE', 'items/bulk?force=true', { ids: ['a2', 'a3'] })).status).toBe(200)
      const [items, parts, marks, locks] = await dump()
      expect([items!.map(([id]) => id), parts!.map(([id]) => id), marks, locks!.length]).toEqual([
        ['a4'],
        ['p2', 'p4'],
        [
          ['m1', null],
          ['m2', 'A1'],
        ],
        3,
      ])
      expect((await ask('DELETE', 'items/a4?force=true')).status).toBe(409)
    })
  })
})

const PLAIN = {
  sqlite: sqliteTable('entries', {
    id: integer('id').primaryKey(),
    organizationId: text('organization_id').notNull(),
    rank: integer('rank').notNull(),
  }),
  pg: pgTable('entries', {
    id: pgInteger('id').primaryKey(),
    organizationId: pgText('organization_id').notNull(),
    rank: pgInteger('rank').notNull(),
  }),
}

describe.each(DRIVER_CASES.filter(({ name }) => name === 'better-sqlite3' || name === 'node-postgres'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('the page of a tenant whose key is text', () => {
    let opened: Opened
    afterAll(() => opened?.close())

    it('uses its index, in the order of the index, although the tenant is compared twice', async () => {
      opened = await engineCase.open()
      const dialect = engineCase.dialect as keyof typeof PLAIN
      const rows = Array.from({ length: 20_000 }, (_, index) => `(${index}, 'o${index % 10}', ${index % 777})`)
      await opened.exec(
        `create table entries (id integer primary key, organization_id text not null, rank integer not null); insert into entries values ${rows.join()}; create index entries_list on entries (organization_id, rank, id); analyze entries`,
      )
      const server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        registrations: [{ name: 'entries', schema: PLAIN[dialect], authorization: OPEN }],
        config: { multiTenancy: DEFAULT_MULTI_TENANCY },
      })
      opened.sent()
      expect((await server.request('GET', '/api/entries?sort=rank&count=none', { caller: { tenantId: 'o7' } })).body.data).toHaveLength(20)
      const [{ text: statement, values }] = opened.sent() as [{ text: string, values: unknown[] }]
      const plan = (await opened.all(`${dialect === 'pg' ? 'explain' : 'explain query plan'} ${statement}`, values)).flat().join('\n')
      expect(plan).toContain('entries_list')
      expect(plan).not.toMatch(/sort|b-tree|bitmap/i)
    })
  })
})
