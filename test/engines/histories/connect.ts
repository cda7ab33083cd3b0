/** The databases of the histories: each address can be opened several times, in this process and in others. */
import { createClient } from '@libsql/client'
import BetterSqlite3 from 'better-sqlite3'
import { drizzle as betterSqlite3 } from 'drizzle-orm/better-sqlite3'
import { drizzle as libsql } from 'drizzle-orm/libsql'
import { drizzle as mysql2 } from 'drizzle-orm/mysql2'
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres'
import { createPool } from 'mysql2/promise'
import type { EngineName } from '../../../src/runtime/server/engines/index'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { TestPool } from '../support/test-pool'

export interface Connected {
  readonly db: object
  readonly engine: EngineName
  readonly dialect: Dialect
  readonly close: () => unknown
}

const POOL = 6

export const CONNECT = {
  'better-sqlite3'(url: string): Connected {
    const client = new BetterSqlite3(url)
    client.pragma('synchronous = off')
    return { db: betterSqlite3({ client }), engine: 'better-sqlite3', dialect: 'sqlite', close: () => client.close() }
  },
  'libsql'(url: string): Connected {
    const client = createClient({ url: `file:${url}` })
    return { db: libsql({ client }), engine: 'libsql', dialect: 'sqlite', close: () => client.close() }
  },
  'node-postgres'(url: string): Connected {
    const pool = new TestPool({ connectionString: url, max: POOL })
    return { db: nodePostgres({ client: pool }), engine: 'postgres', dialect: 'pg', close: () => pool.end() }
  },
  'mysql2'(url: string): Connected {
    const pool = createPool({ uri: url, connectionLimit: POOL })
    return { db: mysql2({ client: pool }), engine: 'mysql', dialect: 'mysql', close: () => pool.end() }
  },
}

export type Shared = keyof typeof CONNECT
