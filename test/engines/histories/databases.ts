/** Creates an empty database of each engine, with the tables of the cells, that several instances of the API can open. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import BetterSqlite3 from 'better-sqlite3'
import { drizzle as d1 } from 'drizzle-orm/d1'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { openD1 } from '../../support/d1'
import { auditLogSql } from '../support/audit-log'
import { CONNECT, type Connected, type Shared } from './connect'
import { DDL } from './tables'

export interface World {
  readonly name: string
  readonly dialect: Dialect
  /** The address for other processes. */
  readonly url?: string
  readonly connect: () => Connected
  /** Reads without the API. */
  readonly all: (sql: string) => Promise<unknown[][]>
  readonly remove: () => Promise<unknown>
}

interface Created {
  readonly dialect: Dialect
  readonly url?: string
  readonly connect?: () => Connected
  readonly exec: (sql: string) => Promise<unknown>
  readonly all: World['all']
  readonly remove: World['remove']
}

const newName = () => `histories_${randomUUID().replaceAll('-', '')}`

function createFile() {
  const url = join(tmpdir(), `${newName()}.db`)
  return { url, removeFiles: () => ['', '-wal', '-shm'].forEach(end => rmSync(url + end, { force: true })) }
}

const CREATE: Readonly<Record<string, () => Promise<Created>>> = {
  async 'better-sqlite3'() {
    const { url, removeFiles } = createFile()
    const client = new BetterSqlite3(url)
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = off')
    return {
      dialect: 'sqlite', url, exec: async sql => client.exec(sql),
      all: async sql => client.prepare(sql).raw().all() as unknown[][],
      async remove() {
        client.close()
        removeFiles()
      },
    }
  },
  async 'libsql'() {
    const { url, removeFiles } = createFile()
    const client = createClient({ url: `file:${url}` })
    await client.execute('pragma journal_mode = wal')
    return {
      dialect: 'sqlite', url, exec: sql => client.executeMultiple(sql),
      all: async sql => (await client.execute(sql)).rows.map(row => Array.from(row as ArrayLike<unknown>)),
      async remove() {
        client.close()
        removeFiles()
      },
    }
  },
  async 'd1'() {
    const local = await openD1()
    const connect = (): Connected => ({ db: d1(local.d1 as never), engine: 'd1', dialect: 'sqlite', close: () => {} })
    return { dialect: 'sqlite', connect, exec: local.exec, all: local.rows, remove: local.close }
  },
  async 'node-postgres'() {
    const name = newName()
    const admin = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' })
    await admin.connect()
    await admin.query(`create database ${name}`)
    await admin.query(`alter database ${name} set synchronous_commit = off`)
    // Requests that reference records which others write wait for each other now and then: one of them is repeated.
    await admin.query(`alter database ${name} set deadlock_timeout = 20`)
    const url = `postgres://postgres@127.0.0.1/${name}`
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return {
      dialect: 'pg', url, exec: sql => client.query(sql),
      all: async text => (await client.query({ text, rowMode: 'array' })).rows as unknown[][],
      async remove() {
        await client.end()
        await admin.query(`drop database ${name} with (force)`)
        await admin.end()
      },
    }
  },
  async 'mysql2'() {
    const name = newName()
    const admin = await createConnection({ host: '127.0.0.1', user: 'root', multipleStatements: true })
    await admin.query(`create database ${name} character set utf8mb4 collate utf8mb4_nopad_bin; use ${name}`)
    await admin.query('set global innodb_flush_log_at_trx_commit = 0')
    return {
      dialect: 'mysql', url: `mysql://root@127.0.0.1/${name}`, exec: sql => admin.query(sql),
      all: async sql => (await admin.query({ sql, rowsAsArray: true }))[0] as unknown[][],
      async remove() {
        await admin.query(`drop database ${name}`)
        await admin.end()
      },
    }
  },
}

/** @param log whether there is an audit log */
export async function createWorld(name: string, log: boolean): Promise<World> {
  const { exec, ...created } = await CREATE[name]!()
  await exec(DDL)
  if (log) await exec(await auditLogSql(created.dialect))
  return { name, connect: () => CONNECT[name as Shared](created.url!), ...created }
}
