/** Databases of any size: `size` posts, comments and entries of the audit log, and a user for every 100 posts, in six organizations. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { createJiti } from 'jiti'
import pg from 'pg'

export type GrowthDialect = 'sqlite' | 'pg'

export const SIZES = [10_000, 100_000, 1_000_000, 10_000_000]

export const ORGANIZATIONS = 6

/** The time of the first post. One post is created every second. */
export const START = 1_700_000_000_000

export interface GrowthDatabase {
  /** `BENCH_DATABASE` of the server. */
  readonly address: string
  readonly remove: () => Promise<void>
}

const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')

const presets = (dialect: GrowthDialect) => fileURLToPath(new URL(`../../src/runtime/plugins/schema-${dialect}.ts`, import.meta.url))

/** The tables use the module's presets, which Node cannot import without a bundler. */
const importTables = (dialect: GrowthDialect) =>
  createJiti(import.meta.url, { alias: { [`nuxt-auto-api/schema/${dialect}`]: presets(dialect) } }).import<Record<string, unknown>>(
    `./server/database/${dialect}.ts`,
  )

interface Words {
  /** A query of the numbers from 1 to `last`, in the column `n`. */
  readonly numbers: (last: number) => string
  /** A time, given in milliseconds since 1970. */
  readonly time: (milliseconds: string) => string
  /** A number as 12 hexadecimal digits. */
  readonly hex: (number: string) => string
  readonly uuid: (text: string) => string
}

const WORDS: Readonly<Record<GrowthDialect, Words>> = {
  sqlite: {
    numbers: last =>
      `(with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${last}) select n from numbers) as numbers`,
    time: milliseconds => milliseconds,
    hex: number => `printf('%012x', ${number})`,
    uuid: text => text,
  },
  pg: {
    numbers: last => `(select n::bigint from generate_series(1, ${last}) as n) as numbers`,
    time: milliseconds => `to_timestamp((${milliseconds}) / 1000.0)`,
    hex: number => `lpad(to_hex(${number}), 12, '0')`,
    uuid: text => `cast(${text} as uuid)`,
  },
}

/** The author of a post. Posts of one author are of all ages. */
const author = (post: string, users: number) => `((${post}) * 7919 + (${post}) / 10) % ${users} + 1`
const organization = (user: string) => `(${user} - 1) % ${ORGANIZATIONS} + 1`

/** The statements that fill the tables. Every tenth post has ten comments. */
function fill(dialect: GrowthDialect, size: number): string[] {
  const { numbers, time, hex, uuid } = WORDS[dialect]
  const users = size / 100
  const at = `${START} + n * 1000`
  const tenPosts = '(n - 1) / 10 * 10 + 10'
  return [
    `insert into users (organization_id, name) select ${organization('n')}, 'user ' || n from ${numbers(users)}`,
    `insert into posts (organization_id, author_id, title, status, created_at, updated_at)
      select ${organization(`(${author('n', users)})`)}, ${author('n', users)}, 'The post with the number ' || n, 'published', ${time(at)}, ${time(at)}
      from ${numbers(size)}`,
    `insert into comments (organization_id, post_id, body)
      select ${organization(`(${author(tenPosts, users)})`)}, ${tenPosts}, 'The comment with the number ' || n from ${numbers(size)}`,
    `insert into audit_log (id, at, kind, resource, record_id, user_id, via, tenant_id, columns, after)
      select ${uuid(`substr(${hex(at)}, 1, 8) || '-' || substr(${hex(at)}, 9, 4) || '-7000-8000-' || ${hex('n')}`)}, ${time(at)}, 'create', 'posts',
        cast(n as text), cast(${author('n', users)} as text), 'session', cast(${organization(`(${author('n', users)})`)} as text),
        '["title"]', '{"title":"The first title"}' from ${numbers(size)}`,
  ]
}

async function fillSqlite(file: string, size: number): Promise<void> {
  const schema = await importTables('sqlite')
  const connection = new Database(file)
  connection.pragma('journal_mode = WAL')
  const statements = await kit.generateSQLiteMigration(await kit.generateSQLiteDrizzleJson({}), await kit.generateSQLiteDrizzleJson(schema))
  for (const statement of statements.filter(isTable)) connection.exec(statement)
  for (const statement of fill('sqlite', size)) connection.exec(statement)
  // Indexes of a filled table are created faster than they are maintained.
  for (const statement of statements.filter(statement => !isTable(statement))) connection.exec(statement)
  connection.pragma('wal_checkpoint(TRUNCATE)')
  connection.close()
}

const isTable = (statement: string) => !/^create (?:unique )?index/i.test(statement.trim())

const POSTGRES = { host: '127.0.0.1', port: 5432, user: 'postgres' }

async function onPostgres(database: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ ...POSTGRES, database })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  }
  finally {
    await client.end()
  }
}

async function fillPostgres(database: string, size: number): Promise<void> {
  const schema = await importTables('pg')
  const statements = await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson(schema))
  const tables = statements.filter(statement => /^create table/i.test(statement.trim()))
  const others = statements.filter(statement => !tables.includes(statement))
  await onPostgres('postgres', [`create database ${database}`])
  await onPostgres(database, [...tables, ...fill('pg', size), ...others, 'vacuum analyze'])
}

/** The engines: SQLite, and Postgres on this machine. */
export const growthDatabases = (folder: string) => [
  {
    title: 'SQLite',
    dialect: 'sqlite' as const,
    async open(size: number): Promise<GrowthDatabase> {
      const file = join(folder, `growth-${size}.sqlite`)
      await fillSqlite(file, size)
      return { address: file, remove: async () => ['', '-wal', '-shm'].forEach(end => rmSync(file + end, { force: true })) }
    },
  },
  {
    title: 'Postgres',
    dialect: 'pg' as const,
    async open(size: number): Promise<GrowthDatabase> {
      const database = `growth_${randomUUID().replaceAll('-', '')}`
      const remove = () => onPostgres('postgres', [`drop database if exists ${database} with (force)`])
      try {
        await fillPostgres(database, size)
      }
      catch (error) {
        await remove()
        throw error
      }
      return { address: `postgres://${POSTGRES.user}@${POSTGRES.host}:${POSTGRES.port}/${database}`, remove }
    },
  },
]
