/** Any tables over SQLite, made as Drizzle describes them, behind the real routes; everything is allowed until a test says otherwise. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { getTableConfig, SQLiteSyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { createServer, type Answered, type Caller, type TestServer } from '../../support/server'
import { dumpOf } from '../api/notebook'

export interface WorldOptions {
  readonly tables: Readonly<Record<string, SQLiteTable>>
  /** By resource; a table that is `false` here is no resource. */
  readonly resources?: Readonly<Record<string, Partial<ResourceRegistration> | false>>
  /** SQL to begin with. */
  readonly rows?: string
  readonly config?: Partial<AutoApiConfig>
  /** Every statement as it runs. */
  readonly log?: (statement: string) => void
}

export interface World extends TestServer {
  readonly client: Database.Database
  /** Everything the database holds. */
  readonly dump: () => string
  /** The rows as they were. */
  readonly reset: () => void
  readonly ask: (method: string, path: string, body?: unknown, caller?: Caller) => Promise<Answered>
  /** One column of a query, or rows where there are several. */
  readonly rows: (query: string) => unknown[]
}

export const EVERYTHING = Object.freeze({ read: true, create: true, update: true, delete: true })
export const ADA: Caller = { user: { id: 1, organizationId: 1 } }

export async function openWorld({ tables, resources = {}, rows = '', config, log }: WorldOptions): Promise<World> {
  const client = new Database(':memory:')
  for (const table of Object.values(tables)) client.exec(toDdl(table))
  client.exec(rows)
  const registrations = Object.entries(tables).flatMap(([name, schema]): ResourceRegistration[] => {
    const registration = resources[name]
    return registration === false ? [] : [{ name, schema, authorization: { permissions: EVERYTHING }, ...registration }]
  })
  const server = await createServer({ registrations, modules: [tables], db: drizzle({ client, ...log && { logger: { logQuery: log } } }), config })
  return {
    ...server,
    client,
    dump: () => dumpOf(client),
    reset: () => void client.exec(`pragma foreign_keys = off; ${Object.values(tables).map(table => `delete from "${getTableConfig(table).name}";`).join('')} ${rows}; pragma foreign_keys = on`),
    ask: (method, path, body, caller = ADA) => server.request(method, `/api/${path}`, { body, caller }),
    rows: query => client.prepare(query).raw().all().map(row => (row as unknown[]).length === 1 ? (row as unknown[])[0] : row),
  }
}

/** `200`, or `403 FORBIDDEN`. */
export const told = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body?.data?.code ?? ''}`.trim()

/** As a migration would make it. */
function toDdl(table: SQLiteTable): string {
  const { name, columns, primaryKeys, foreignKeys, uniqueConstraints, checks } = getTableConfig(table)
  const list = (parts: readonly { name: string }[]) => parts.map(part => `"${part.name}"`).join(', ')
  const lines = [
    ...columns.map(column => [
      `"${column.name}" ${column.getSQLType()}`,
      column.primary ? 'primary key' : '',
      column.notNull ? 'not null' : '',
      column.isUnique ? 'unique' : '',
      typeof column.default === 'string' ? `default '${column.default}'` : typeof column.default === 'number' ? `default ${column.default}` : '',
    ].filter(Boolean).join(' ')),
    ...primaryKeys.map(key => `primary key (${list(key.columns)})`),
    ...uniqueConstraints.map(unique => `unique (${list(unique.columns)})`),
    ...checks.map(check => `constraint "${check.name}" check (${new SQLiteSyncDialect().sqlToQuery(check.value).sql})`),
    ...foreignKeys.map((key) => {
      const { columns, foreignTable, foreignColumns } = key.reference()
      return `foreign key (${list(columns)}) references "${getTableConfig(foreignTable).name}" (${list(foreignColumns)})${key.onDelete ? ` on delete ${key.onDelete}` : ''}`
    }),
  ]
  return `create table "${name}" (${lines.join(', ')})`
}
