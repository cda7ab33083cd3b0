/** A table with a unique constraint of each kind that an upsert can name, and one with a trash, in each dialect. */
import { sql } from 'drizzle-orm'
import {
  bigint as mysqlBigint, boolean as mysqlBoolean, date as mysqlDate, datetime, int, mysqlTable, unique as mysqlUnique, varchar,
} from 'drizzle-orm/mysql-core'
import {
  bigint, boolean, date, integer as pgInteger, pgTable, serial, text as pgText, timestamp, unique as pgUnique,
  uniqueIndex as pgUniqueIndex,
} from 'drizzle-orm/pg-core'
import { integer, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../src/runtime/shared/dialects'

const sqlite = () => ({
  entries: sqliteTable('entries', {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    slug: text('slug'),
    code: text('code').unique(),
    number: integer('number').unique(),
    big: text('big').unique(),
    moment: text('moment').unique(),
    date: text('date').unique(),
    day: integer('day', { mode: 'timestamp_ms' }),
    isOpen: integer('is_open', { mode: 'boolean' }),
    title: text('title').notNull(),
  }, t => [unique('entries_slug').on(t.organizationId, t.slug), unique('entries_day').on(t.day, t.isOpen)]),
  names: sqliteTable('names', {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').unique(),
    handle: text('handle'),
    title: text('title').notNull(),
    deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  }, t => [uniqueIndex('names_handle').on(t.handle).where(sql`${t.deletedAt} is null`)]),
})

const pg = () => ({
  entries: pgTable('entries', {
    id: serial('id').primaryKey(),
    organizationId: pgInteger('organization_id').notNull(),
    slug: pgText('slug'),
    code: pgText('code').unique(),
    number: pgInteger('number').unique(),
    big: bigint('big', { mode: 'bigint' }).unique(),
    moment: timestamp('moment', { withTimezone: true, precision: 3, mode: 'string' }).unique(),
    date: date('date').unique(),
    day: timestamp('day', { withTimezone: true, precision: 3 }),
    isOpen: boolean('is_open'),
    title: pgText('title').notNull(),
  }, t => [pgUnique('entries_slug').on(t.organizationId, t.slug), pgUnique('entries_day').on(t.day, t.isOpen)]),
  names: pgTable('names', {
    id: serial('id').primaryKey(),
    organizationId: pgInteger('organization_id').notNull(),
    name: pgText('name').unique(),
    handle: pgText('handle'),
    title: pgText('title').notNull(),
    deletedAt: timestamp('deleted_at', { withTimezone: true }),
  }, t => [pgUniqueIndex('names_handle').on(t.handle).where(sql`${t.deletedAt} is null`)]),
})

const mysql = () => ({
  entries: mysqlTable('entries', {
    id: int('id').autoincrement().primaryKey(),
    organizationId: int('organization_id').notNull(),
    slug: varchar('slug', { length: 40 }),
    code: varchar('code', { length: 40 }).unique('entries_code'),
    number: int('number').unique('entries_number'),
    big: mysqlBigint('big', { mode: 'bigint' }).unique('entries_big'),
    moment: datetime('moment', { fsp: 3, mode: 'string' }).unique('entries_moment'),
    date: mysqlDate('date', { mode: 'string' }).unique('entries_date'),
    day: datetime('day', { fsp: 3 }),
    isOpen: mysqlBoolean('is_open'),
    title: varchar('title', { length: 40 }).notNull(),
  }, t => [mysqlUnique('entries_slug').on(t.organizationId, t.slug), mysqlUnique('entries_day').on(t.day, t.isOpen)]),
  names: mysqlTable('names', {
    id: int('id').autoincrement().primaryKey(),
    organizationId: int('organization_id').notNull(),
    name: varchar('name', { length: 40 }).unique('names_name'),
    handle: varchar('handle', { length: 40 }),
    title: varchar('title', { length: 40 }).notNull(),
    deletedAt: datetime('deleted_at', { fsp: 3 }),
  }),
})

const TABLES = { sqlite, pg, mysql }

export const entriesTables = (dialect: Dialect) => TABLES[dialect]() as ReturnType<typeof sqlite>

const TYPES: Readonly<Record<Dialect, Readonly<Record<'id' | 'time' | 'boolean' | 'text', string>>>> = {
  sqlite: { id: 'integer primary key', time: 'integer', boolean: 'integer', text: 'big text, moment text, date text' },
  pg: { id: 'serial primary key', time: 'timestamptz(3)', boolean: 'boolean', text: 'big bigint, moment timestamptz(3), date date' },
  mysql: { id: 'int auto_increment primary key', time: 'datetime(3)', boolean: 'boolean', text: 'big bigint, moment datetime(3), date date' },
}

/** MariaDB has no partial index. */
export const hasPartialIndex = (dialect: Dialect): boolean => dialect !== 'mysql'

export function entriesDdl(dialect: Dialect): string {
  const { id, time, boolean, text } = TYPES[dialect]
  return `
    create table entries (id ${id}, organization_id int not null, slug varchar(40), code varchar(40), number int, day ${time}, is_open ${boolean},
      ${text}, title varchar(40) not null, constraint entries_slug unique (organization_id, slug), constraint entries_code unique (code),
      constraint entries_number unique (number), constraint entries_big unique (big), constraint entries_moment unique (moment),
      constraint entries_date unique (date), constraint entries_day unique (day, is_open));
    create table names (id ${id}, organization_id int not null, name varchar(40), handle varchar(40), title varchar(40) not null,
      deleted_at ${time}, constraint names_name unique (name));
    ${hasPartialIndex(dialect) ? 'create unique index names_handle on names (handle) where deleted_at is null;' : ''}`
}
