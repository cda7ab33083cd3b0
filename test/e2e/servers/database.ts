/** An empty database of the fixture `servers`, on Postgres or MariaDB. */
import { randomUUID } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import * as mysqlTables from '../../fixtures/servers/server/database/mysql'
import * as postgresTables from '../../fixtures/servers/server/database/postgres'
import { createTablesSql } from '../../support/create-tables'

export type Variant = 'postgres' | 'mysql'

export interface Database {
  readonly name: string
  readonly url: string
  readonly query: <Row = Record<string, unknown>>(sql: string) => Promise<Row[]>
  /** Another connection runs the SQL in a transaction and holds its locks until the returned function is called. */
  readonly hold: (sql: string) => Promise<() => Promise<void>>
  readonly remove: () => Promise<void>
}

export const createDatabase = (variant: Variant, port?: number): Promise<Database> =>
  variant === 'postgres' ? createOnPostgres(port) : createOnMysql(port)

const newName = () => `servers_${randomUUID().slice(0, 8)}`

async function createOnPostgres(port = 5432): Promise<Database> {
  const name = newName()
  const admin = await connectTo('test', port)
  await admin.query(`create database ${name}`)
  const client = await connectTo(name, port)
  await client.query(await createTablesSql('pg', postgresTables))
  return {
    name,
    url: `postgres://postgres@127.0.0.1:${port}/${name}`,
    query: async sql => (await client.query(sql)).rows,
    async hold(sql) {
      const other = await connectTo(name, port)
      await other.query('begin')
      await other.query(sql)
      return async () => {
        await other.query('rollback')
        await other.end()
      }
    },
    async remove() {
      await client.end()
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    },
  }
}

async function connectTo(database: string, port: number): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database })
  await client.connect()
  // A server that is killed, and a database that is removed, close connections.
  client.on('error', () => {})
  return client
}

async function createOnMysql(port = 3306): Promise<Database> {
  const name = newName()
  const open = () => createConnection({ host: '127.0.0.1', port, user: 'root', multipleStatements: true })
  const client = await open()
  await client.query(`create database ${name}; use ${name}; ${await createTablesSql('mysql', mysqlTables)}`)
  return {
    name,
    url: `mysql://root@127.0.0.1:${port}/${name}`,
    query: async sql => (await client.query(sql))[0] as never,
    async hold(sql) {
      const other = await open()
      await other.query(`use ${name}; begin; ${sql}`)
      return async () => {
        await other.query('rollback')
        await other.end()
      }
    },
    async remove() {
      await client.query(`drop database ${name}`)
      await client.end()
    },
  }
}
