/** On MariaDB, which checks foreign keys row by row, trees of rows are purged, and restored links are reported, as on other engines. */
import { datetime, int, mysqlTable, primaryKey, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { WRITER } from './support/scene'

const shelves = mysqlTable('shelves', { id: int('id').primaryKey(), deletedAt: datetime('deleted_at', { fsp: 3 }) })
/** No `deletion_id`, and no way to tell parents from children by their ids. */
const boxes = mysqlTable('boxes', {
  id: int('id').primaryKey(),
  shelfId: int('shelf_id').references(() => shelves.id),
  boxId: int('box_id').references((): AnyMySqlColumn => boxes.id),
  deletedAt: datetime('deleted_at', { fsp: 3 }),
})
const labels = mysqlTable('labels', { id: int('id').primaryKey(), name: varchar('name', { length: 40 }) })
const boxLabels = mysqlTable(
  'box_labels',
  {
    boxId: int('box_id')
      .notNull()
      .references(() => boxes.id),
    labelId: int('label_id')
      .notNull()
      .references(() => labels.id),
    deletedAt: datetime('deleted_at', { fsp: 3 }),
  },
  t => [primaryKey({ columns: [t.boxId, t.labelId] })],
)

const DDL = `
  create table shelves (id integer primary key, deleted_at datetime(3));
  create table boxes (id integer primary key, shelf_id integer references shelves(id), box_id integer references boxes(id), deleted_at datetime(3));
  create table labels (id integer primary key, name varchar(40));
  create table box_labels (box_id integer not null references boxes(id), label_id integer not null references labels(id), deleted_at datetime(3), primary key (box_id, label_id));
  insert into labels values (1, 'a'), (2, 'b'), (3, 'c');
`
/** Shelf 1 holds box 5, in which are 1 and 9, and 2 in 9; box 7 hangs in box 2. */
const ROWS = `
  delete from box_labels; update boxes set box_id = null; delete from boxes; delete from shelves;
  insert into shelves (id) values (1), (2); insert into boxes (id, shelf_id, box_id) values (5, 1, null), (1, null, 5), (9, null, 5), (2, null, 9), (7, null, 2), (20, 2, null), (21, null, 20);
  insert into box_labels (box_id, label_id) values (5, 1), (2, 1), (20, 2); insert into box_labels values (20, 1, now(3)), (20, 3, now(3));
`

const [mariadb] = ENGINE_CASES.filter(({ dialect }) => dialect === 'mysql')

describe.skipIf(!mariadb || !isAvailable(mariadb))('mysql2 on MariaDB', () => {
  let opened: Opened
  let server: TestServer
  let told: { kind: string, table: string, id: string }[]
  beforeAll(async () => {
    opened = await mariadb!.open()
    await opened.exec(DDL)
    const permissions = { read: true, create: true, update: true, delete: true } as const
    const listener = { name: 'listener', onCommit: (changes: typeof told) => void told.push(...changes) }
    server = await createServer({
      db: opened.db, engine: 'mysql', plugins: [listener], modules: [{ shelves, boxes, labels, boxLabels }],
      registrations: Object.entries({ shelves, boxes, labels }).map(([name, schema]) => ({ name, schema, authorization: { permissions } })),
    })
  })
  beforeEach(async () => {
    told = []
    await opened.exec(ROWS)
  })
  afterAll(() => opened?.close())

  const ask = async (method: string, path: string, body?: unknown) =>
    (await server.request(method, `/api/${path}`, { body, caller: WRITER })).status
  const ids = async () => (await opened.all('select id from boxes order by id')).map(([id]) => id)

  it.each([
    ['shelves/1', [20, 21]],
    ['boxes/5', [20, 21]],
    ['boxes/9', [1, 5, 20, 21]],
    ['boxes/20', [1, 2, 5, 7, 9]],
  ])('purges a tree without a deletionId: %s', async (path, left) => {
    expect(await ask('DELETE', `${path}?force=true`)).toBe(200)
    expect(await ids()).toEqual(left)
  })

  it('reports restored links to plugins, like new links', async () => {
    expect(await ask('POST', 'boxes/20/relations/labels', { ids: [1, 2, 3] })).toBe(200)
    expect(await ask('POST', 'boxes/5/relations/labels', { ids: [2] })).toBe(200)
    expect(told.map(({ kind, table, id }) => `${kind} ${table} ${id}`).sort()).toEqual([
      'link box_labels 20,1',
      'link box_labels 20,3',
      'link box_labels 5,2',
    ])
  })
})
