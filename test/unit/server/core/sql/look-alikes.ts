/** Three schemas with the same tables in each dialect, over an engine that only renders: what is built, not what is found, matters. */
import { sql, type Column, type SQL, type Table } from 'drizzle-orm'
import * as mysql from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import { vi } from 'vitest'
import { DIALECTS as ADAPTERS } from '../../../../../src/runtime/server/engines/dialects/index'
import type { Engine, Row, WriteStatement } from '../../../../../src/runtime/server/engines/engine'
import type { ResourceAuth, ResourceRegistration } from '../../../../../src/runtime/server/registration'
import { createServer, type TestServer } from '../../../../support/server'
import { DIALECTS as RENDERERS } from '../../../../support/dialects'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the builders of three dialects share no type
type Any = any
export type Columns = Record<string, Column>

interface DialectCase {
  readonly render: { sqlToQuery: (sql: SQL) => { sql: string, params: unknown[] } }
  readonly table: (schema: string) => Any
  readonly int: (name: string) => Any
  readonly text: (name: string) => Any
  readonly primaryKey: Any
  readonly alias: Any
}

/** SQLite has no schemas: two files declare tables of one name, whose columns are called differently. */
export const DIALECTS: Readonly<Record<Engine['dialect'], DialectCase>> = {
  pg: {
    render: new pg.PgDialect(),
    int: pg.integer,
    text: pg.text,
    primaryKey: pg.primaryKey,
    alias: pg.alias,
    table: schema => (schema === 'main' ? pg.pgTable : pg.pgSchema(schema).table),
  },
  mysql: {
    render: new mysql.MySqlDialect(),
    int: mysql.int,
    text: name => mysql.varchar(name, { length: 50 }),
    primaryKey: mysql.primaryKey,
    alias: mysql.alias,
    table: schema => (schema === 'main' ? mysql.mysqlTable : mysql.mysqlSchema(schema).table),
  },
  sqlite: {
    render: RENDERERS.sqlite,
    int: sqlite.integer,
    text: sqlite.text,
    primaryKey: sqlite.primaryKey,
    alias: sqlite.alias,
    table: () => sqlite.sqliteTable,
  },
}

export const SCHEMAS = ['main', 'shop', 'bank'] as const
export type Schema = typeof SCHEMAS[number]

/** Items in one another, what hangs on them by every kind of foreign key, and labels over a junction. */
export function tablesOf(dialect: Engine['dialect'], schema: Schema): Record<string, Table & Columns> {
  const { int, text, primaryKey, ...of } = DIALECTS[dialect]
  const table = of.table(schema)
  const named = (name: string) => dialect === 'sqlite' ? `${schema}_${name}` : name
  const trash = () => ({ deletedAt: int(named('deleted_at')), deletionId: text(named('deletion_id')) })
  const items: Any = table('items', {
    'id': int(named('id')).primaryKey(),
    'name': text(named('name')),
    'a,b': int(named('ab')),
    'parentId': int(named('parent_id')).references((): Any => items.id),
    ...trash(),
  })
  const parts: Any = table('parts', {
    id: int(named('id')).primaryKey(),
    itemId: int(named('item_id')).references((): Any => items.id, { onDelete: 'cascade' }),
    name: text(named('name')),
    ...trash(),
  })
  const notes: Any = table('notes', {
    id: int(named('id')).primaryKey(), itemId: int(named('item_id')).references((): Any => items.id, { onDelete: 'set null' }),
    partId: int(named('part_id')).references((): Any => parts.id, { onDelete: 'restrict' }), name: text(named('name')),
  })
  const labels: Any = table('labels', { id: int(named('id')).primaryKey(), name: text(named('name')), ...schema === 'bank' && trash() })
  const itemLabels: Any = table(
    'item_labels',
    {
      itemId: int(named('item_id')).references((): Any => items.id),
      labelId: int(named('label_id')).references((): Any => labels.id),
      name: text(named('name')),
      ...(schema === 'bank' && trash()),
    },
    (t: Any) => [primaryKey({ columns: [t.itemId, t.labelId] })],
  )
  return { items, parts, notes, labels, itemLabels }
}

/** Row filters that look alike: raw text of every kind, values, aliases, and what belongs to another table. */
const FILTERS: readonly ((table: Table & Columns, other: Table & Columns, alias: Any) => SQL | undefined)[] = [
  () => undefined,
  () => sql`name = 'x'`,
  () => sql.raw('name = \'x\') and (1 = 1'),
  () => sql.raw('name = ?'),
  table => sql`${table.name} = ${'x'}`,
  table => sql`${table.name} = ${'x'} or ${table.id} = ${1}`,
  table => sql`${table.id} in ${[1, 2]}`,
  table => sql`${table.id} in ${[sql`${1}, ${2}`]}`,
  table => sql`${table.id} in ${[[1], 2]}`,
  table => sql`${table.name} is null`,
  (table, other) => sql`exists (select 1 from ${other} where ${other.name} = ${table.name})`,
  (_, other, alias) => sql`exists (select 1 from ${other} as o where ${alias(other, 'o').name} = ${'x'})`,
  (_, other, alias) => sql`exists (select 1 from ${other} as p where ${alias(other, 'p').name} = ${'x'})`,
]

export const FILTER_COUNT = FILTERS.length

/** What a caller's rules are: a filter for each table, and which tables code judges. */
export interface Rules {
  readonly filters: Readonly<Record<string, number>>
}

const JUDGED: ReadonlySet<string> = new Set(['shop_parts', 'bank_labels', 'bank_itemLabels'])

function registrationsOf(
  dialect: Engine['dialect'],
  modules: Readonly<Record<Schema, Record<string, Table & Columns>>>,
): ResourceRegistration[] {
  const permissions = {
    read: true,
    create: true,
    update: true,
    delete: true,
    restore: true,
    purge: true,
    aggregate: true,
    viewDeleted: true,
  } as const
  return SCHEMAS.flatMap(schema =>
    Object.entries(modules[schema])
      .filter(([name]) => name !== 'itemLabels' || schema !== 'shop')
      .map(([name, table]): ResourceRegistration => ({
        name: `${schema}_${name}`,
        schema: table,
        authorization: {
          permissions,
          listFilter: (own: Table, ctx: { user: { rules: Rules } }) =>
            FILTERS[ctx.user.rules.filters[name] ?? 0]!(own as Table & Columns, modules[schema].labels!, DIALECTS[dialect].alias),
          ...(JUDGED.has(`${schema}_${name}`) && { objectLevel: () => true }),
        } as unknown as ResourceAuth,
      })),
  )
}

/** Answers every question with one row of ones: there is a record 1, it hangs on record 1, and it counts as one. */
const ONES: readonly Row[] = [Array.from({ length: 60 }, () => 1)]

function createFake(dialect: Engine['dialect'], concurrent: boolean): Engine {
  const render = (statement: SQL) => {
    const { sql: text, params } = DIALECTS[dialect].render.sqlToQuery(statement)
    return { text, values: params }
  }
  return {
    name: 'fake', dialect, adapter: ADAPTERS[dialect], concurrent, render, supportsFollowUp: true,
    maxParameters: 1000,
    columnName: column => column.name,
    query: () => ONES,
    commit: statements => (statements as readonly WriteStatement[]).map(({ expectedRows = 1, readBack, followUp }) => {
      readBack?.(1)
      followUp?.(ONES.map(row => row.slice(0, 1)))
      return { rows: Array.from({ length: expectedRows }, () => ONES[0]!), affectedRows: expectedRows }
    }),
  }
}

export async function openLookAlikes(dialect: Engine['dialect'], concurrent: boolean): Promise<TestServer> {
  vi.resetModules()
  vi.doMock('../../../../../src/runtime/server/engines/index.ts', () => ({
    createEngine: () => createFake(dialect, concurrent),
    assertEngine: () => {},
  }))
  const modules = Object.fromEntries(SCHEMAS.map(schema => [schema, tablesOf(dialect, schema)])) as Record<
    Schema,
    Record<string, Table & Columns>
  >
  const server = await createServer({ db: {}, registrations: registrationsOf(dialect, modules), modules: Object.values(modules) })
  vi.doUnmock('../../../../../src/runtime/server/engines/index.ts')
  vi.resetModules()
  return server
}
