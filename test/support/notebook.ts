/** A small API over SQLite for tests that speak HTTP: tables whose names in the database are told nowhere, and a dump of all rows. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { blob, customType, integer, numeric, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../src/runtime/shared/config'
import { createServer, type Answered, type TestServer } from './server'

/** A value only the driver could refuse. */
const shape = customType<{ data: unknown, driverData: string }>({
  dataType: () => 'text',
  toDriver: value => JSON.stringify(value),
  fromDriver: value => JSON.parse(value),
})

export const folders = sqliteTable('tbl_folders', {
  id: integer('col_id').primaryKey(),
  name: text('col_name').notNull().unique(),
})

export const notes = sqliteTable('tbl_notes', {
  id: integer('col_id').primaryKey({ autoIncrement: true }),
  folderId: integer('col_folder_id').references(() => folders.id),
  title: text('col_title', { length: 40 }).notNull(),
  status: text('col_status', { enum: ['draft', 'done'] }).notNull().default('draft'),
  rank: integer('col_rank'),
  weight: real('col_weight'),
  price: numeric('col_price'),
  pinned: integer('col_pinned', { mode: 'boolean' }),
  dueAt: integer('col_due_at', { mode: 'timestamp_ms' }),
  size: blob('col_size', { mode: 'bigint' }),
  meta: text('col_meta', { mode: 'json' }),
  cover: blob('col_cover', { mode: 'buffer' }),
  shape: shape('col_shape'),
  secret: text('col_secret'),
  score: integer('col_score').notNull().default(0),
  createdAt: integer('col_created_at', { mode: 'timestamp_ms' }),
  updatedAt: integer('col_updated_at', { mode: 'timestamp_ms' }),
})

export const labels = sqliteTable('tbl_labels', {
  slug: text('col_slug').primaryKey(),
  name: text('col_name').notNull(),
})

export const seats = sqliteTable('tbl_seats', {
  room: text('col_room').notNull(),
  number: integer('col_number').notNull(),
  label: text('col_label'),
}, t => [primaryKey({ columns: [t.room, t.number] })])

/** Everything a server stamps. */
export const tasks = sqliteTable('tbl_tasks', {
  id: integer('col_id').primaryKey({ autoIncrement: true }),
  organizationId: integer('col_organization_id').notNull(),
  title: text('col_title').notNull(),
  salary: integer('col_salary'),
  createdAt: integer('col_created_at', { mode: 'timestamp_ms' }).notNull(),
  updatedAt: integer('col_updated_at', { mode: 'timestamp_ms' }),
  createdBy: integer('col_created_by'),
  updatedBy: integer('col_updated_by'),
  deletedAt: integer('col_deleted_at', { mode: 'timestamp_ms' }),
  deletedBy: integer('col_deleted_by'),
  deletionId: text('col_deletion_id'),
  deletedReason: text('col_deleted_reason'),
})

const DDL = `
  drop table if exists tbl_tasks;
  drop table if exists tbl_notes;
  drop table if exists tbl_folders;
  drop table if exists tbl_labels;
  drop table if exists tbl_seats;
  create table tbl_folders (col_id integer primary key, col_name text not null unique);
  create table tbl_notes (
    col_id integer primary key autoincrement, col_folder_id integer references tbl_folders(col_id), col_title text not null, col_status text not null default 'draft',
    col_rank integer check (col_rank >= 0), col_weight real, col_price numeric, col_pinned integer, col_due_at integer, col_size blob, col_meta text, col_cover blob,
    col_shape text, col_secret text unique, col_score integer not null default 0, col_created_at integer, col_updated_at integer
  );
  create table tbl_labels (col_slug text primary key, col_name text not null);
  create table tbl_seats (col_room text not null, col_number integer not null, col_label text, primary key (col_room, col_number));
  create table tbl_tasks (
    col_id integer primary key autoincrement, col_organization_id integer not null, col_title text not null, col_salary integer, col_created_at integer not null,
    col_updated_at integer, col_created_by integer, col_updated_by integer, col_deleted_at integer, col_deleted_by integer, col_deletion_id text, col_deleted_reason text
  );
  insert into tbl_tasks (col_id, col_organization_id, col_title, col_salary, col_created_at) values (1, 1, 'ours', 10, 1000), (2, 2, 'theirs', 20, 1000), (3, 1, 'ours too', 30, 1000);
  insert into tbl_folders values (1, 'inbox'), (2, 'archive');
  insert into tbl_notes (col_id, col_folder_id, col_title, col_secret) values (1, 1, 'first', 's1'), (2, 1, 'second', 's2'), (3, null, 'third', 's3');
  insert into tbl_labels values ('a', 'A'), ('01', 'zero one');
  insert into tbl_seats values ('red', 1, 'window'), ('red', 2, null), ('a,b', 1, 'comma');
`

export interface Notebook extends TestServer {
  readonly client: Database.Database
  /** Every row of every table, in order. */
  readonly dump: () => string
  /** The rows as they were. */
  readonly reset: () => void
}

const open = { read: true, create: true, update: true, delete: true } as const

export async function openNotebook({
  registrations = {},
  config,
}: { registrations?: Record<string, Partial<ResourceRegistration>>, config?: Partial<AutoApiConfig> } = {}): Promise<Notebook> {
  const client = new Database(':memory:')
  client.exec(DDL)
  const tables = { folders, notes, labels, seats, tasks }
  const resources = Object.entries(tables).map(
    ([name, schema]) =>
      ({
        name,
        schema,
        authorization: { permissions: open },
        ...(name === 'notes' && { hiddenFields: ['secret'], protectedFields: ['score'] }),
        ...registrations[name],
      }) as ResourceRegistration,
  )
  const server = await createServer({ registrations: resources, modules: [tables], db: drizzle({ client }), ...(config && { config }) })
  return { ...server, client, dump: () => dumpOf(client), reset: () => void client.exec(DDL) }
}

export function dumpOf(client: Database.Database): string {
  const names = client.prepare('select name from sqlite_master where type = \'table\' order by name').pluck().all() as string[]
  return JSON.stringify(
    names.map(name => [name, client.prepare(`select * from "${name}" order by 1, 2`).raw().all()]),
    (_key, value) => (value?.type === 'Buffer' ? value.data.join() : value),
  )
}

/** What no response contains: the text of the driver's errors, our names in the database, our code. */
const DATABASE_TEXT
  = /sqlite|constraint|drizzle|tbl_|col_|select |insert |update .* set|delete from|syntax error|typeerror|rangeerror|\.ts:\d|node_modules/i

/** What is wrong with an answer that refuses: nothing, or how it differs from what was promised. */
export function problemsOf({ status, body, text }: Answered, expected: { status: number, code: string }): string[] {
  const found = `${status} ${body?.data?.code}`
  const wanted = `${expected.status} ${expected.code}`
  return [
    ...found === wanted ? [] : [`is ${found}, not ${wanted}: ${text.slice(0, 300)}`],
    ...body?.statusCode === status || status < 400 ? [] : ['does not repeat its status'],
    ...DATABASE_TEXT.test(text) ? [`speaks of the database: ${text.slice(0, 300)}`] : [],
  ]
}
