/** The database servers of this machine: how to create, fill and remove a database. */
import { createRequire } from 'node:module'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import * as mysqlTables from './server/database/mysql.ts'
import * as pgTables from './server/database/pg.ts'

const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')

type Rows = readonly Record<string, unknown>[]

export interface RemoteServer {
  readonly title: string
  readonly dialect: 'pg' | 'mysql'
  /** Whether the API can name statements on it. */
  readonly prepares: boolean
  readonly address: string
  readonly isReachable: () => Promise<boolean>
  /** Creates and fills a database. Returns its URL. */
  readonly create: (name: string, tables: ReadonlyMap<string, Rows>) => Promise<string>
  readonly remove: (name: string) => Promise<void>
}

/** Rows of one insert. */
const STEP = 5_000

const POSTGRES = { host: '127.0.0.1', port: 5432, user: 'postgres' }

async function onPostgres<T>(database: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...POSTGRES, database })
  await client.connect()
  try {
    return await run(client)
  }
  finally {
    await client.end()
  }
}

export const postgres: RemoteServer = {
  title: 'Postgres',
  dialect: 'pg',
  prepares: true,
  address: `${POSTGRES.host}:${POSTGRES.port}`,
  isReachable: () => onPostgres('postgres', async () => true).catch(() => false),
  async create(name, tables) {
    await onPostgres('postgres', client => client.query(`create database ${name}`))
    await onPostgres(name, async (client) => {
      for (const statement of await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson(pgTables)))
        await client.query(statement)
      for (const [table, rows] of tables) {
        for (let start = 0; start < rows.length; start += STEP)
          await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
            JSON.stringify(rows.slice(start, start + STEP)),
          ])
      }
      await client.query('vacuum analyze')
    })
    return `postgres://${POSTGRES.user}@${POSTGRES.host}:${POSTGRES.port}/${name}`
  },
  remove: name => onPostgres('postgres', async client => void await client.query(`drop database if exists ${name} with (force)`)),
}

const MARIADB = { host: '127.0.0.1', port: 3306, user: 'root', timezone: 'Z' }

async function onMariadb<T>(
  database: string | undefined,
  run: (client: Awaited<ReturnType<typeof createConnection>>) => Promise<T>,
): Promise<T> {
  const client = await createConnection({ ...MARIADB, database })
  try {
    return await run(client)
  }
  finally {
    await client.end()
  }
}

export const mariadb: RemoteServer = {
  title: 'MariaDB',
  dialect: 'mysql',
  prepares: false,
  address: `${MARIADB.host}:${MARIADB.port}`,
  isReachable: () => onMariadb(undefined, async () => true).catch(() => false),
  async create(name, tables) {
    await onMariadb(undefined, client => client.query(`create database ${name}`))
    await onMariadb(name, async (client) => {
      const statements = await kit.generateMySQLMigration(
        await kit.generateMySQLDrizzleJson({}),
        await kit.generateMySQLDrizzleJson(mysqlTables),
      )
      for (const statement of statements) await client.query(statement)
      for (const [table, rows] of tables) {
        const names = Object.keys(rows[0]!)
        for (let start = 0; start < rows.length; start += STEP) {
          const values = rows.slice(start, start + STEP).map(row => names.map(column => row[column]))
          await client.query(`insert into ${table} (${names.join()}) values ?`, [values])
        }
        await client.query(`analyze table ${table}`)
      }
    })
    return `mysql://${MARIADB.user}@${MARIADB.host}:${MARIADB.port}/${name}`
  },
  remove: name => onMariadb(undefined, async client => void await client.query(`drop database if exists ${name}`)),
}
