/** A server that writes batches through the API until it is killed, with a plugin that writes an entry for each changed row. */
import { PGlite } from '@electric-sql/pglite'
import { createClient } from '@libsql/client'
import Database from 'better-sqlite3'
import { drizzle as betterSqlite3 } from 'drizzle-orm/better-sqlite3'
import { drizzle as libsql } from 'drizzle-orm/libsql'
import { int, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { drizzle as mysql2 } from 'drizzle-orm/mysql2'
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres'
import { integer as pgInteger, pgTable, serial, text as pgText } from 'drizzle-orm/pg-core'
import { drizzle as pglite } from 'drizzle-orm/pglite'
import { drizzle as postgresJs } from 'drizzle-orm/postgres-js'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createApp, createRouter, defineEventHandler, toWebHandler } from 'h3'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { createApi } from '../../../src/runtime/server/api/create'
import { createRuntime, mountRuntime, setDefaultRuntime } from '../../../src/runtime/server/api/runtime'
import { defineAutoApiPlugin, type ChangedRows } from '../../../src/runtime/server/define'
import { auditLog } from '../../../src/runtime/plugins/audit-log/index'
import { batch } from '../../../src/runtime/plugins/batch/index'
import { idempotency } from '../../../src/runtime/plugins/idempotency/index'
import * as mysqlPresets from '../../../src/runtime/plugins/schema-mysql'
import * as pgPresets from '../../../src/runtime/plugins/schema-pg'
import * as sqlitePresets from '../../../src/runtime/plugins/schema-sqlite'
import bulk from '../../../src/runtime/server/routes/bulk'
import answerPlugins from '../../../src/runtime/server/routes/plugins'

const SQLITE = {
  items: sqliteTable('items', {
    id: integer('id').primaryKey(),
    batch: integer('batch').notNull(),
    place: integer('place').notNull(),
    deletedAt: text('deleted_at'),
    deletionId: text('deletion_id'),
  }),
  entries: sqliteTable('entries', {
    id: text('id').primaryKey(),
    kind: text('kind').notNull(),
    recordId: text('record_id').notNull(),
    before: text('before'),
    after: text('after'),
  }),
  keys: sqlitePresets.idempotencyKeysTable(),
}
const PG = {
  items: pgTable('items', {
    id: serial('id').primaryKey(),
    batch: pgInteger('batch').notNull(),
    place: pgInteger('place').notNull(),
    deletedAt: pgText('deleted_at'),
    deletionId: pgText('deletion_id'),
  }),
  entries: pgTable('entries', {
    id: pgText('id').primaryKey(),
    kind: pgText('kind').notNull(),
    recordId: pgText('record_id').notNull(),
    before: pgText('before'),
    after: pgText('after'),
  }),
  keys: pgPresets.idempotencyKeysTable(),
}
const wide = (name: string) => varchar(name, { length: 1000 })
const MYSQL = {
  items: mysqlTable('items', {
    id: int('id').autoincrement().primaryKey(),
    batch: int('batch').notNull(),
    place: int('place').notNull(),
    deletedAt: wide('deleted_at'),
    deletionId: wide('deletion_id'),
  }),
  entries: mysqlTable('entries', {
    id: varchar('id', { length: 36 }).primaryKey(),
    kind: wide('kind').notNull(),
    recordId: wide('record_id').notNull(),
    before: wide('before'),
    after: wide('after'),
  }),
  keys: mysqlPresets.idempotencyKeysTable(),
}

/** The children of the records, by the tables of their records. `lines` is a keyword of MariaDB. */
const LINES = new Map<object, object>([
  [SQLITE, sqliteTable('item_lines', {
    id: integer('id').primaryKey(),
    itemId: integer('item_id').notNull().references(() => SQLITE.items.id),
    place: integer('place').notNull(),
  })],
  [PG, pgTable('item_lines', {
    id: serial('id').primaryKey(),
    itemId: pgInteger('item_id').notNull().references(() => PG.items.id),
    place: pgInteger('place').notNull(),
  })],
  [MYSQL, mysqlTable('item_lines', {
    id: int('id').autoincrement().primaryKey(),
    itemId: int('item_id').notNull().references(() => MYSQL.items.id),
    place: int('place').notNull(),
  })],
])

const [name, url, first, mode] = process.argv.slice(2) as [
  string, string, string, 'together' | 'apart' | 'audit' | 'keys' | 'batch' | 'nested',
]

const OPEN: Readonly<Record<string, () => { db: object, engine: 'better-sqlite3' | 'libsql' | 'postgres' | 'mysql', tables: object }>> = {
  'better-sqlite3': () => ({ db: betterSqlite3({ client: new Database(url) }), engine: 'better-sqlite3', tables: SQLITE }),
  'libsql': () => ({ db: libsql({ client: createClient({ url: `file:${url}` }) }), engine: 'libsql', tables: SQLITE }),
  'pglite': () => ({ db: pglite({ client: new PGlite(url) }), engine: 'postgres', tables: PG }),
  'node-postgres': () => ({ db: nodePostgres({ client: new pg.Pool({ connectionString: url }) }), engine: 'postgres', tables: PG }),
  'postgres.js': () => ({ db: postgresJs({ client: postgres(url, { onnotice: () => {} }) }), engine: 'postgres', tables: PG }),
  'mysql2': () => ({ db: mysql2({ client: createPool(url) }), engine: 'mysql', tables: MYSQL }),
}

const { db, engine, tables } = OPEN[name]!()
const { items, entries } = tables as typeof SQLITE
const lines = LINES.get(tables) as typeof SQLITE.items
const permissions = { read: true, create: true, update: true, delete: true } as const
const insert = (rows: ChangedRows) =>
  rows.insertInto(entries, { id: rows.uuid, kind: kindOf(rows), recordId: rows.id, before: rows.before, after: rows.after })
/** Ids of records and of their children can be equal. */
const kindOf = ({ resource, kind }: ChangedRows) => mode === 'nested' ? resource! : kind

const LOGS = {
  'better-sqlite3': sqlitePresets.auditLogTable,
  'libsql': sqlitePresets.auditLogTable,
  'postgres': pgPresets.auditLogTable,
  'mysql': mysqlPresets.auditLogTable,
}

const inCommit = () => ['together', 'batch', 'nested'].includes(mode)
  ? defineAutoApiPlugin({ name: 'auditor', needs: { images: true }, inCommit: changes => changes.map(insert) })
  // The control: the entries are written after the commit.
  : defineAutoApiPlugin({ name: 'auditor', async onCommit(changes) {
      const values = changes.map(({ kind, id }) => ({ id: crypto.randomUUID(), kind, recordId: id }))
      await (db as ReturnType<typeof betterSqlite3>).insert(entries).values(values)
    } })

const auditor = mode === 'audit' ? auditLog() : mode === 'keys' ? idempotency() : inCommit()

const runtime = createRuntime(options => createApi({
  registrations: [
    { name: 'items', schema: items, authorization: { permissions }, nested: { lines: ['create'] } },
    { name: 'lines', schema: lines, authorization: { permissions } },
    ...mode === 'audit' ? [{ name: 'auditLog', schema: LOGS[engine]() }] : [],
  ],
  modules: [{ ...tables, lines }],
  config: DEFAULT_CONFIG,
  plugins: [auditor, batch()].map((plugin, index) => ({ where: `plugins[${index}]`, listed: () => plugin })),
  useRuntimeConfig: () => ({ autoApi: { secret: '' } }),
  ...options,
}), () => true)
setDefaultRuntime(runtime)
runtime.database.initialize(db, engine)
const app = createApp()
app.use(defineEventHandler((event) => {
  mountRuntime(event, runtime)
  Object.assign(event.context, { user: { id: 1 } })
}))
const router = createRouter()
router.use('/api/items/bulk', bulk)
app.use(answerPlugins)
app.use(router)
const handle = toWebHandler(app)

async function request(method: string, body: unknown, headers: Record<string, string> = {}, path = 'items/bulk') {
  const response = await handle(
    new Request(`http://localhost/api/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  )
  const text = await response.text()
  if (response.status >= 300) throw new Error(text)
  if (headers['idempotency-key']) process.stdout.write(`replayed ${response.headers.get('idempotent-replayed') ?? false}\n`)
  return JSON.parse(text) as { data: { id: number }[] }
}

const SIZE = 20

// Each batch has its own key. After a kill, the next writer begins with batches that the last one has finished.
for (let batch = Number(first); mode === 'keys'; batch++) {
  process.stdout.write(`begin ${batch} create\n`)
  await request('POST', { items: Array.from({ length: SIZE }, (_, place) => ({ batch, place })) }, { 'idempotency-key': `batch ${batch}` })
  process.stdout.write(`end ${batch} create\n`)
}

// The first record of each batch is the place of the others, and a last step changes it.
for (let batch = Number(first); mode === 'batch'; batch++) {
  process.stdout.write(`begin ${batch} batch\n`)
  await request('POST', { steps: [
    { resource: 'items', operation: 'create', data: { batch, place: 0 }, as: 'first' },
    ...Array.from({ length: SIZE - 2 }, () => ({ resource: 'items', operation: 'create', data: { batch, place: { $ref: 'first.id' } } })),
    { resource: 'items', operation: 'update', id: { $ref: 'first.id' }, data: { place: -1 } },
  ] }, {}, 'batch')
  process.stdout.write(`end ${batch} batch\n`)
}

// 3 records with 9 children each.
for (let batch = Number(first); mode === 'nested'; batch++) {
  process.stdout.write(`begin ${batch} nested\n`)
  const lines = { create: Array.from({ length: 9 }, (_, place) => ({ place })) }
  await request('POST', { items: Array.from({ length: 3 }, (_, place) => ({ batch, place, lines })) })
  process.stdout.write(`end ${batch} nested\n`)
}

for (let batch = Number(first); ; batch++) {
  process.stdout.write(`begin ${batch} create\n`)
  const { data } = await request('POST', { items: Array.from({ length: SIZE }, (_, place) => ({ batch, place })) })
  process.stdout.write(`end ${batch} create\nbegin ${batch} update\n`)
  await request('PATCH', { items: data.map(({ id }, place) => ({ id, data: { place: place + 100 } })) })
  process.stdout.write(`end ${batch} update\nbegin ${batch} delete\n`)
  await request('DELETE', { ids: data.map(({ id }) => id) })
  process.stdout.write(`end ${batch} delete\n`)
}
