/** The tables of the suite in each dialect, as Drizzle tables and as SQL. */
import { sql, type Column, type SQL, type Table } from 'drizzle-orm'
import * as mysql from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../shared/dialects'
import type { Engine } from '../../server/engines/engine'

export type Columns<Name extends string> = Table & Readonly<Record<Name, Column>>

export interface Tables {
  /** `id`, `name` (unique, required), `age` (positive) */
  readonly parents: Columns<'id' | 'name' | 'age'>
  /** `id`, `parentId` → parents */
  readonly children: Columns<'id' | 'parentId'>
  /** The database generates `id`. */
  readonly marks: Columns<'id' | 'note'>
  /** The columns have no names of their own, so that Drizzle's `casing` option decides. */
  readonly cased: Columns<'id' | 'fullName'>
}

type Build = (name: (table: keyof Tables) => string) => unknown

const BUILD: Readonly<Record<Dialect, Build>> = {
  sqlite: (name) => {
    const { integer, sqliteTable, text } = sqlite
    return {
      parents: sqliteTable(name('parents'), { id: integer('id').primaryKey(), name: text('name').notNull().unique(), age: integer('age') }),
      children: sqliteTable(name('children'), { id: integer('id').primaryKey(), parentId: integer('parent_id') }),
      marks: sqliteTable(name('marks'), { id: integer('id').primaryKey({ autoIncrement: true }), note: text('note') }),
      cased: sqliteTable(name('cased'), { id: integer().primaryKey(), fullName: text() }),
    }
  },
  pg: (name) => {
    const { integer, pgTable, serial, varchar } = pg
    return {
      parents: pgTable(name('parents'), {
        id: integer('id').primaryKey(),
        name: varchar('name', { length: 1000 }).notNull().unique(),
        age: integer('age'),
      }),
      children: pgTable(name('children'), { id: integer('id').primaryKey(), parentId: integer('parent_id') }),
      marks: pgTable(name('marks'), { id: serial('id').primaryKey(), note: varchar('note', { length: 1000 }) }),
      cased: pgTable(name('cased'), { id: integer().primaryKey(), fullName: varchar({ length: 1000 }) }),
    }
  },
  mysql: (name) => {
    const { int, mysqlTable, varchar } = mysql
    return {
      parents: mysqlTable(name('parents'), {
        id: int('id').primaryKey(),
        name: varchar('name', { length: 700 }).notNull().unique(),
        age: int('age'),
      }),
      children: mysqlTable(name('children'), { id: int('id').primaryKey(), parentId: int('parent_id') }),
      marks: mysqlTable(name('marks'), { id: int('id').autoincrement().primaryKey(), note: varchar('note', { length: 700 }) }),
      cased: mysqlTable(name('cased'), { id: int().primaryKey(), fullName: varchar({ length: 700 }) }),
    }
  },
}

const AUTO_INCREMENT: Readonly<Record<Dialect, string>> = {
  sqlite: 'integer primary key autoincrement',
  pg: 'serial primary key',
  mysql: 'integer auto_increment primary key',
}

export function buildTables(dialect: Dialect, suffix: string): Tables {
  return BUILD[dialect](table => `suite_${table}_${suffix}`) as Tables
}

/** One statement for each table, parents before children. */
export function createStatements({ parents, children, marks, cased }: Tables, { dialect, columnName }: Engine, suffix: string): SQL[] {
  const named = (name: string) => sql.identifier(`${name}_${suffix}`)
  const column = (column: Column) => sql.identifier(columnName(column))
  // MySQL's default collation ignores the case of letters.
  const text = sql.raw(dialect === 'mysql' ? 'varchar(700) character set utf8mb4 collate utf8mb4_bin' : 'varchar(1000)')
  return [
    sql`create table ${parents} (id integer primary key, name ${text} not null, age integer, `
      .append(sql`constraint ${named('name')} unique (name), constraint ${named('age')} check (age > 0))`),
    sql`create table ${children} (id integer primary key, parent_id integer, `
      .append(sql`constraint ${named('parent')} foreign key (parent_id) references ${parents} (id))`),
    sql`create table ${marks} (id ${sql.raw(AUTO_INCREMENT[dialect])}, note ${text})`,
    sql`create table ${cased} (${column(cased.id)} integer primary key, ${column(cased.fullName)} ${text})`,
  ]
}

export const dropStatements = ({ parents, children, marks, cased }: Tables): SQL[] =>
  [children, parents, marks, cased].map(table => sql`drop table ${table}`)
