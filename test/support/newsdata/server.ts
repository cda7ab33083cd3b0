/** The newsroom on the in-process server: its authorization, callers and rows, and a log of its statements. */
import Database from 'better-sqlite3'
import { ne, or, sql, type SQL, type Table } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { AutoApiContext, ResourceRegistration } from '../../../src/runtime/server/registration'
import type { Viewer } from '../oracle/model'
import { SQLITE_HABITS, type Habits } from '../oracle/values'
import { createServer, type Caller, type TestServer } from '../server'
import { NEWSROOM, type TableName } from './columns'
import { createRows, type Data } from './rows'
import { createTables, createTableText, type Tables } from './tables'

const READ = { read: true, viewDeleted: 'trash' } as const
const column = (table: Table, name: string) => (table as unknown as Record<string, SQL>)[name]!

export const tables = createTables('sqlite', NEWSROOM) as Tables<typeof NEWSROOM, SQLiteTable>

export const createRegistrations = (tables: Tables): ResourceRegistration[] => [
  {
    name: 'authors',
    schema: tables.authors,
    hiddenFields: ['secret'],
    authorization: { permissions: READ, fields: { salary: { read: 'hr' } } },
  },
  { name: 'sections', schema: tables.sections, authorization: { permissions: READ } },
  {
    name: 'articles',
    schema: tables.articles,
    hiddenFields: ['secret', 'ghostId'],
    authorization: {
      permissions: READ,
      fields: { margin: { read: 'hr' }, reviewerId: { read: 'hr' } },
      listFilter: (table: Table, ctx: AutoApiContext) =>
        ctx.permissions.includes('drafts') ? undefined : or(ne(column(table, 'status'), 'draft'), sql`1 = 0`),
    },
  },
  {
    name: 'tags',
    schema: tables.tags,
    authorization: {
      permissions: READ,
      objectLevel: (row: Record<string, unknown>) => row.weight === null || row.weight === 0 || (row.weight as number) % 5 !== 0,
    },
  },
  {
    name: 'credits',
    schema: tables.credits,
    authorization: { permissions: READ, listFilter: (table: Table) => ne(column(table, 'role'), 'hidden') },
  },
  { name: 'entries', schema: tables.entries, authorization: { permissions: READ } },
]

export const LIMITS = { defaultLimit: 7, maxLimit: 25 }

/** The newsroom's configuration for every engine. */
export const NEWS_CONFIG = {
  multiTenancy: DEFAULT_MULTI_TENANCY, pagination: { ...DEFAULT_CONFIG.pagination, ...LIMITS }, filters: { extended: true },
}

/** The server under a property of reading, and its rows. */
export interface Served extends TestServer {
  readonly data: Data
  readonly habits: Habits
}

export interface Newsdata extends Served {
  readonly client: Database.Database
  readonly insert: (resource: string, row: Record<string, unknown>) => void
  /** Statements since the last call. */
  readonly statements: () => string[]
}

export interface NewsdataOptions {
  readonly config?: Partial<AutoApiConfig>
  readonly registered?: ResourceRegistration[]
  readonly rows?: Data
  /** The tables of the registrations. */
  readonly modules?: readonly Record<string, unknown>[]
  readonly plugins?: readonly unknown[]
}

export async function openNewsdata({
  config = {},
  registered = createRegistrations(tables),
  rows = createRows(),
  plugins = [],
  modules = [tables],
}: NewsdataOptions = {}): Promise<Newsdata> {
  const client = new Database(':memory:')
  let log: string[] = []
  const db = drizzle({ client, logger: { logQuery: text => void log.push(text) } })
  for (const [name, table] of Object.entries(tables)) client.exec(createTableText(NEWSROOM[name as TableName], table))
  client.pragma('foreign_keys = off')
  const insert = (resource: string, row: Record<string, unknown>) =>
    void db
      .insert(tables[resource as TableName])
      .values(row as never)
      .run()
  for (const [name, own] of Object.entries(rows)) for (const row of own) insert(name, row)
  const server = await createServer({
    registrations: registered,
    modules: [...modules],
    db,
    plugins,
    config: { ...NEWS_CONFIG, ...config },
  })
  // Foreign keys of the rows name rows of other tenants and missing rows: reading must handle both.
  client.pragma('foreign_keys = off')
  const statements = () => {
    const seen = log
    log = []
    return seen
  }
  statements()
  return { ...server, client, data: rows, habits: SQLITE_HABITS, insert, statements }
}

export function callerOf({ tenant, permissions }: Viewer): Caller {
  return { user: { id: 1, organizationId: tenant }, permissions: [...permissions] }
}
