/**
 * Cells with a list and a register, and three sets of each: entries, tags and pins. In each dialect. The keys of cells and entries are
 * texts, which come from the client.
 */
import * as my from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as lite from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../src/runtime/shared/dialects'

function sqliteTables() {
  const { sqliteTable: table, integer, text, primaryKey } = lite
  const cells = table('cells', {
    id: text('id').primaryKey(), shelf: integer('shelf').notNull(), items: text('items').notNull(), mark: integer('mark').notNull(),
  })
  const tags = table('tags', { id: integer('id').primaryKey() })
  const pins = table('pins', { id: integer('id').primaryKey() })
  const cellId = () => text('cell_id').notNull().references(() => cells.id)
  return {
    cells, tags, pins,
    entries: table('entries', { id: text('id').primaryKey(), cellId: cellId(), shelf: integer('shelf').notNull() }),
    cellTags: table('cell_tags', { cellId: cellId(), tagId: integer('tag_id').notNull().references(() => tags.id) },
      t => [primaryKey({ columns: [t.cellId, t.tagId] })]),
    cellPins: table('cell_pins', { cellId: cellId(), pinId: integer('pin_id').notNull().references(() => pins.id) },
      t => [primaryKey({ columns: [t.cellId, t.pinId] })]),
  }
}

function postgresTables() {
  const { pgTable: table, integer, text, primaryKey } = pg
  const cells = table('cells', {
    id: text('id').primaryKey(), shelf: integer('shelf').notNull(), items: text('items').notNull(), mark: integer('mark').notNull(),
  })
  const tags = table('tags', { id: integer('id').primaryKey() })
  const pins = table('pins', { id: integer('id').primaryKey() })
  const cellId = () => text('cell_id').notNull().references(() => cells.id)
  return {
    cells, tags, pins,
    entries: table('entries', { id: text('id').primaryKey(), cellId: cellId(), shelf: integer('shelf').notNull() }),
    cellTags: table('cell_tags', { cellId: cellId(), tagId: integer('tag_id').notNull().references(() => tags.id) },
      t => [primaryKey({ columns: [t.cellId, t.tagId] })]),
    cellPins: table('cell_pins', { cellId: cellId(), pinId: integer('pin_id').notNull().references(() => pins.id) },
      t => [primaryKey({ columns: [t.cellId, t.pinId] })]),
  }
}

function mysqlTables() {
  const { mysqlTable: table, int, varchar, primaryKey } = my
  const key = (name: string) => varchar(name, { length: 20 })
  const cells = table('cells', {
    id: key('id').primaryKey(), shelf: int('shelf').notNull(), items: varchar('items', { length: 1000 }).notNull(),
    mark: int('mark').notNull(),
  })
  const tags = table('tags', { id: int('id').primaryKey() })
  const pins = table('pins', { id: int('id').primaryKey() })
  const cellId = () => key('cell_id').notNull().references(() => cells.id)
  return {
    cells, tags, pins,
    entries: table('entries', { id: key('id').primaryKey(), cellId: cellId(), shelf: int('shelf').notNull() }),
    cellTags: table('cell_tags', { cellId: cellId(), tagId: int('tag_id').notNull().references(() => tags.id) },
      t => [primaryKey({ columns: [t.cellId, t.tagId] })]),
    cellPins: table('cell_pins', { cellId: cellId(), pinId: int('pin_id').notNull().references(() => pins.id) },
      t => [primaryKey({ columns: [t.cellId, t.pinId] })]),
  }
}

export const TABLES = { sqlite: sqliteTables, pg: postgresTables, mysql: mysqlTables } satisfies Record<Dialect, () => object>

/** The numbers of tags and pins that a cell can have. */
export const TAGS = 90
export const PINS = 24

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `(${index + 1})`).join()

/** The same in every dialect. */
export const DDL = `
  create table cells (id varchar(20) primary key, shelf integer not null, items varchar(1000) not null, mark integer not null);
  create index cells_of_shelf on cells (shelf);
  create table entries (id varchar(20) primary key, cell_id varchar(20) not null, shelf integer not null,
    constraint of_cell foreign key (cell_id) references cells(id));
  create index entries_of_shelf on entries (shelf);
  create table tags (id integer primary key);
  create table pins (id integer primary key);
  create table cell_tags (cell_id varchar(20) not null, tag_id integer not null, primary key (cell_id, tag_id),
    constraint tag_of foreign key (cell_id) references cells(id), constraint to_tag foreign key (tag_id) references tags(id));
  create table cell_pins (cell_id varchar(20) not null, pin_id integer not null, primary key (cell_id, pin_id),
    constraint pin_of foreign key (cell_id) references cells(id), constraint to_pin foreign key (pin_id) references pins(id));
  insert into tags values ${numbered(TAGS)};
  insert into pins values ${numbered(PINS)};
`
