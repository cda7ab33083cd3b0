/** Two Postgres schemas with tables of the same names: a request to one never affects the other. */
import { integer, pgSchema, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../support/server'
import { DRIVER_CASES, isAvailable, type Opened } from './support/databases'

/** `items` with `parts`, which may go to the trash with them, and `labels` linked over an unregistered `item_labels`. */
function tablesOf(name: string) {
  const schema = pgSchema(name)
  const trash = () => ({ deletedAt: timestamp('deleted_at'), deletionId: text('deletion_id') })
  const items = schema.table('items', { id: integer('id').primaryKey(), name: text('name'), ...trash() })
  const parts = schema.table('parts', {
    id: integer('id').primaryKey(),
    itemId: integer('item_id').references(() => items.id),
    name: text('name'),
    ...trash(),
  })
  const labels = schema.table('labels', { id: integer('id').primaryKey(), name: text('name') })
  const itemLabels = schema.table('item_labels', {
    itemId: integer('item_id').notNull().references(() => items.id), labelId: integer('label_id').notNull().references(() => labels.id),
  }, t => [primaryKey({ columns: [t.itemId, t.labelId] })])
  return { items, parts, labels, itemLabels }
}

const SCHEMAS = { shop: tablesOf('shop'), bank: tablesOf('bank') }
type Schema = keyof typeof SCHEMAS

const ddl = (schema: string) => `
  create schema ${schema};
  create table ${schema}.items (id integer primary key, name text, deleted_at timestamp, deletion_id text);
  create table ${schema}.parts (id integer primary key, item_id integer references ${schema}.items, name text, deleted_at timestamp, deletion_id text);
  create table ${schema}.labels (id integer primary key, name text);
  create table ${schema}.item_labels (item_id integer references ${schema}.items, label_id integer references ${schema}.labels, primary key (item_id, label_id));
`
const rows = (schema: string) => `
  delete from ${schema}.item_labels; delete from ${schema}.labels; delete from ${schema}.parts; delete from ${schema}.items;
  insert into ${schema}.items (id, name) values (1, '${schema} 1'), (2, '${schema} 2'), (3, '${schema} 3');
  insert into ${schema}.parts (id, item_id, name) values (1, 1, '${schema} 1'), (2, 2, '${schema} 2'), (3, 3, '${schema} 3');
  insert into ${schema}.labels values (1, '${schema} 1'), (2, '${schema} 2'), (3, '${schema} 3');
  insert into ${schema}.item_labels values (1, 1), (2, 2), (3, 3);
`

/** The permission is the name of the schema: a caller of one has none in the other. */
const registrations = (Object.keys(SCHEMAS) as Schema[]).flatMap(schema => (['items', 'parts', 'labels'] as const).map(table => ({
  name: `${schema}${table[0]!.toUpperCase()}${table.slice(1)}`,
  schema: SCHEMAS[schema][table],
  authorization: { permissions: { read: schema, create: schema, update: schema, delete: schema, restore: schema, purge: schema } },
})))

/** Every kind of statement, by what is asked of row 1 in one schema, and then of row 2 in the other. */
const REQUESTS: readonly (readonly [
  title: string,
  ask: (schema: Schema, id: number) => readonly [method: string, path: string, body?: unknown][],
])[] = [
  ['purging', (schema, id) => [['DELETE', `${schema}Items/${id}?force=true`]]],
  ['purging several', (schema, id) => [['DELETE', `${schema}Items/bulk?force=true`, { ids: [id, 3] }]]],
  ['deleting', (schema, id) => [['DELETE', `${schema}Items/${id}`]]],
  [
    'deleting and restoring',
    (schema, id) => [
      ['DELETE', `${schema}Items/${id}`],
      ['DELETE', `${schema}Items/3`],
      ['POST', `${schema}Items/${id}/restore`],
    ],
  ],
  ['updating', (schema, id) => [['PATCH', `${schema}Items/${id}`, { name: 'new' }]]],
  ['creating', (schema, id) => [['POST', `${schema}Parts`, { id: 10 + id, itemId: id, name: 'new' }]]],
  ['adding links', (schema, id) => [['POST', `${schema}Items/${id}/relations/${schema}Labels`, { ids: [3] }]]],
  ['replacing links', (schema, id) => [['PUT', `${schema}Items/${id}/relations/${schema}Labels`, { ids: [3] }]]],
  ['removing links', (schema, id) => [['DELETE', `${schema}Items/${id}/relations/${schema}Labels`, { ids: [id] }]]],
]

const READS = (schema: Schema) => [
  `${schema}Items?include=${schema}Parts,${schema}Labels&sort=-name`,
  `${schema}Parts?include=item&filter[name][$ne]=x`,
  `${schema}Items?cursor=&limit=1`,
  `${schema}Items/1`,
  `${schema}Items/aggregate?groupBy=name&having={"count":{"$gt":0}}`,
  `${schema}Items/1/relations/${schema}Labels`,
]

// The text of a statement is the same for every driver of a dialect.
describe.each(DRIVER_CASES.filter(({ name }) => name === 'pglite'))('$name', (engine) => {
  describe.skipIf(!isAvailable(engine))('with tables of the same names in two schemas', () => {
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await engine.open()
      await opened.exec(ddl('shop') + ddl('bank'))
    })
    beforeEach(async () => {
      await opened.exec(rows('shop') + rows('bank'))
      server = await createServer({ db: opened.db, engine: engine.engine, registrations, modules: Object.values(SCHEMAS) })
    })
    afterAll(() => opened.close())

    const ask = (schema: Schema, method: string, path: string, body?: unknown) =>
      server.request(method, `/api/${path}`, { caller: { user: { id: 1 }, permissions: [schema] }, ...body !== undefined && { body } })
    const dump = async (schema: Schema) => Promise.all(['items', 'parts', 'labels', 'item_labels'].map(table =>
      opened.all(`select * from ${schema}.${table} order by 1, 2`)))

    it.each(REQUESTS)('%s in one schema does not change the other', async (_, requests) => {
      for (const [method, path, body] of requests('shop', 1)) expect((await ask('shop', method, path, body)).status).toBeLessThan(300)
      const [shop, bank] = [await dump('shop'), await dump('bank')]
      expect((await ask('bank', 'DELETE', 'shopParts/2?force=true')).status).toBe(403)
      for (const [method, path, body] of requests('bank', 2)) expect((await ask('bank', method, path, body)).status).toBeLessThan(300)
      expect(await dump('shop')).toEqual(shop)
      expect(await dump('bank')).not.toEqual(bank)
    })

    it('a read of one schema never returns rows of the other', async () => {
      const answers = []
      for (const schema of ['shop', 'bank'] as const) {
        for (const path of READS(schema)) {
          const { status, text } = await ask(schema, 'GET', path)
          answers.push([path, status, text.includes(`"name":"${schema} `), text.includes(`${schema === 'shop' ? 'bank' : 'shop'} `)])
        }
      }
      expect(answers).toEqual((['shop', 'bank'] as const).flatMap(schema => READS(schema).map(path => [path, 200, true, false])))
    })
  })
})
