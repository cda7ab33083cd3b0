/** A server over a SQLite database with the given tables. Every operation is allowed unless a test sets authorization. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { createServer, type Answered, type Caller, type TestServer } from '../../support/server'
import { dumpOf } from '../../support/notebook'
import { DIALECTS } from '../../support/dialects'

export interface WorldOptions {
  readonly tables: Readonly<Record<string, SQLiteTable>>
  /** Registrations by table name. `false`: the table is not registered. */
  readonly resources?: Readonly<Record<string, Partial<ResourceRegistration> | false>>
  /** SQL that inserts the rows. */
  readonly rows?: string
  readonly config?: Partial<AutoApiConfig>
  readonly plugins?: readonly unknown[]
  readonly secret?: string
  readonly previousSecret?: string
  /** The database of another world, of which this one is a second server. */
  readonly client?: Database.Database
  /** Receives each statement when it runs. */
  readonly log?: (statement: string) => void
}

export interface World extends TestServer {
  readonly client: Database.Database
  /** All rows of the database as text. */
  readonly dump: () => string
  /** Restores the initial rows. */
  readonly reset: () => void
  readonly send: (method: string, path: string, body?: unknown, caller?: Caller) => Promise<Answered>
  /** The values of a query with one column, or the rows of a query with several. */
  readonly rows: (query: string) => unknown[]
}

export const EVERYTHING = Object.freeze({ read: true, create: true, update: true, delete: true })
export const ADA: Caller = { user: { id: 1, organizationId: 1 } }

export async function openWorld(options: WorldOptions): Promise<World> {
  const { tables, resources = {}, rows = '', config, plugins, log, secret, previousSecret, client: shared } = options
  const client = shared ?? new Database(':memory:')
  if (!shared) {
    for (const table of Object.values(tables)) client.exec(toDdl(table))
    client.exec(rows)
  }
  const registrations = Object.entries(tables).flatMap(([name, schema]): ResourceRegistration[] => {
    const registration = resources[name]
    return registration === false ? [] : [{ name, schema, authorization: { permissions: EVERYTHING }, ...registration }]
  })
  const server = await createServer({
    registrations,
    modules: [tables],
    db: drizzle({ client, ...(log && { logger: { logQuery: log } }) }),
    config,
    plugins,
    secret,
    previousSecret,
  })
  return {
    ...server,
    client,
    dump: () => dumpOf(client),
    reset: () =>
      void client.exec(
        `pragma foreign_keys = off; ${Object.values(tables)
          .map(table => `delete from "${getTableConfig(table).name}";`)
          .join('')} ${rows}; pragma foreign_keys = on`,
      ),
    send: (method, path, body, caller = ADA) => server.request(method, `/api/${path}`, { body, caller }),
    rows: query =>
      client
        .prepare(query)
        .raw()
        .all()
        .map(row => ((row as unknown[]).length === 1 ? (row as unknown[])[0] : row)),
  }
}

/** `200`, or `403 FORBIDDEN`. */
export const outcome = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body?.data?.code ?? ''}`.trim()

/** The `create table` statement of a migration. */
function toDdl(table: SQLiteTable): string {
  const { name, columns, primaryKeys, foreignKeys, uniqueConstraints, checks } = getTableConfig(table)
  const list = (parts: readonly { name: string }[]) => parts.map(part => `"${part.name}"`).join(', ')
  const lines = [
    ...columns.map(column =>
      [
        `"${column.name}" ${column.getSQLType()}`,
        column.primary ? 'primary key' : '',
        column.notNull ? 'not null' : '',
        column.isUnique ? 'unique' : '',
        typeof column.default === 'string'
          ? `default '${column.default}'`
          : typeof column.default === 'number'
            ? `default ${column.default}`
            : '',
      ]
        .filter(Boolean)
        .join(' '),
    ),
    ...primaryKeys.map(key => `primary key (${list(key.columns)})`),
    ...uniqueConstraints.map(unique => `unique (${list(unique.columns)})`),
    ...checks.map(check => `constraint "${check.name}" check (${DIALECTS.sqlite.sqlToQuery(check.value).sql})`),
    ...foreignKeys.map((key) => {
      const { columns, foreignTable, foreignColumns } = key.reference()
      return `foreign key (${list(columns)}) references "${getTableConfig(foreignTable).name}" (${list(foreignColumns)})${key.onDelete ? ` on delete ${key.onDelete}` : ''}`
    }),
  ]
  return `create table "${name}" (${lines.join(', ')})`
}
