/** Notes and the table of idempotency keys in each dialect, as drizzle-kit creates them, behind one or several servers. */
import { createRequire } from 'node:module'
import { eq, sql as raw, type Table } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { text as mysqlText, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { pgTable, text as pgText } from 'drizzle-orm/pg-core'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import { batch, idempotency } from '../../../src/runtime/plugins/index'
import * as mysql from '../../../src/runtime/plugins/schema-mysql'
import * as pg from '../../../src/runtime/plugins/schema-pg'
import * as sqlite from '../../../src/runtime/plugins/schema-sqlite'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { atomicWrites, createEndpoint, findAuthorizedRow, reportChanges } from '../../../src/runtime/server/utils/index'
import { createServer, type TestServer } from '../../support/server'
import type { EngineCase, Opened } from './databases'

const TABLES: Readonly<Record<Dialect, () => { notes: Table, idempotencyKeys: Table }>> = {
  sqlite: () => ({
    notes: sqliteTable('notes', {
      ...sqlite.id(),
      ...sqlite.tenant(),
      title: text('title').notNull().unique(),
      pay: text('pay'),
      ...sqlite.softDelete(),
    }),
    idempotencyKeys: sqlite.idempotencyKeysTable(),
  }),
  pg: () => ({
    notes: pgTable('notes', {
      ...pg.id(),
      ...pg.tenant(),
      title: pgText('title').notNull().unique('notes_title'),
      pay: pgText('pay'),
      ...pg.softDelete(),
    }),
    idempotencyKeys: pg.idempotencyKeysTable(),
  }),
  mysql: () => ({
    notes: mysqlTable('notes', {
      ...mysql.id(),
      ...mysql.tenant(),
      title: varchar('title', { length: 100 }).notNull().unique('notes_title'),
      pay: mysqlText('pay'),
      ...mysql.softDelete(),
    }),
    idempotencyKeys: mysql.idempotencyKeysTable(),
  }),
}

async function createText(dialect: Dialect, tables: object): Promise<string> {
  const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')
  const schema = tables as never
  const statements = dialect === 'sqlite'
    ? await kit.generateSQLiteMigration(await kit.generateSQLiteDrizzleJson({}), await kit.generateSQLiteDrizzleJson(schema))
    : dialect === 'pg'
      ? await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson(schema))
      : await kit.generateMySQLMigration(await kit.generateMySQLDrizzleJson({}), await kit.generateMySQLDrizzleJson(schema))
  return statements.map(statement => `${statement.replace(/;\s*$/, '')};`).join('\n')
}

/** Turns `hey` in the title of a note into `hey!`, in one commit with its key. */
const shout = (table: Table) => createEndpoint({
  resource: 'notes', operation: 'update', idempotent: true,
  async handler(ctx) {
    const notes = table as ReturnType<typeof TABLES.sqlite>['notes'] & { id: never, title: never }
    const { id } = await findAuthorizedRow<typeof table>(ctx, 'notes', ctx.params.id!) as { id: number }
    await atomicWrites<BetterSQLite3Database>(ctx, [
      db => db.update(notes as never).set({ title: raw`replace(${notes.title}, 'hey', 'hey!')` } as never).where(eq(notes.id, id as never)),
      reportChanges(ctx, [{ resource: 'notes', kind: 'update', id }]),
    ])
    return { shouted: id }
  },
})

export interface KeyWorld {
  readonly opened: Opened
  /** Servers over one database, each with its own plugin. */
  readonly servers: readonly TestServer[]
}

/** Notes belong to organizations. Only `pay` sees and writes `pay`; `hidden` titles are visible to nobody. */
export async function openKeys({ dialect, engine, open }: EngineCase, hooks?: ResourceHooks, ttl = '24h', count = 2): Promise<KeyWorld> {
  const opened = await open()
  const tables = TABLES[dialect]()
  await opened.exec(await createText(dialect, tables))
  const servers: TestServer[] = []
  for (let index = 0; index < count; index++) {
    servers.push(await createServer({
      db: opened.db, engine, modules: [tables], plugins: [idempotency({ ttl }), batch()],
      registrations: [{
        name: 'notes', schema: tables.notes, hooks,
        authorization: {
          permissions: { read: true, create: 'write', update: 'write', delete: 'write' },
          fields: { pay: { read: 'pay' } },
        },
      }],
      config: { multiTenancy: DEFAULT_MULTI_TENANCY },
      endpoints: async () => ({ 'POST /api/notes/:id/shout': shout(tables.notes) }),
    }))
  }
  return { opened, servers }
}
