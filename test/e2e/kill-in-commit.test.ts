/** A change and the rows that a plugin writes in its commit: both or neither, when the process of the server is killed. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createClient } from '@libsql/client'
import Database from 'better-sqlite3'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/once'
import { auditLogSql } from '../engines/support/audit-log'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { isReachable, SERVICES } from '../support/services'
import { isFull, isRelease } from '../support/tiers'

/** PGlite takes seconds to start. */
const killsOf = (name: string) => isRelease ? 100 : name === 'pglite' ? 3 : 8
/** Fewer, because the mechanism is the one of the tests before. */
const auditKillsOf = (name: string) => isRelease ? 100 : name === 'pglite' ? 1 : 2
/** The statements of a batch are those of its steps, and those of a record with children are those of its levels. */
const stepKillsOf = (name: string) => isFull && ['better-sqlite3', 'node-postgres', 'mysql2'].includes(name) ? 100 : auditKillsOf(name)
const SIZE = 20

type Query = (sql: string) => Promise<unknown[][]>

interface Case {
  readonly name: string
  readonly service?: string
  readonly id: string
  /** The address of a new database, and a query of a connection that no killed process had. */
  readonly open: () => Promise<{ readonly url: string, readonly query: Query, readonly remove: () => unknown }>
}

const folder = mkdtempSync(join(tmpdir(), 'auto-api-kill-'))
const newName = () => `kill_${randomUUID().replaceAll('-', '')}`
const ddl = (
  id: string,
) => `create table items (id ${id}, batch integer not null, place integer not null, deleted_at varchar(100), deletion_id varchar(100));
  create table item_lines (id ${id}, item_id integer not null references items (id), place integer not null);
  create table entries (id varchar(36) primary key, kind varchar(100) not null, record_id varchar(100) not null, ${id.includes('auto_increment') ? '`before`' : 'before'} varchar(1000), after varchar(1000));
  create table idempotency_keys (id varchar(64) primary key, parent varchar(64), record_id varchar(500), fingerprint varchar(64) not null, access varchar(64), status integer,
    body ${id.includes('auto_increment') ? 'mediumtext' : 'text'}, created_at ${timeOf(id)} not null, expires_at ${timeOf(id)} not null)`

/** The type of a time, in the dialect of the type of an id. */
const timeOf = (id: string) => id.includes('auto_increment') ? 'datetime(3)' : id.includes('serial') ? 'timestamptz' : 'integer'

async function openPostgres() {
  const database = newName()
  const run = async (database: string, text: string) => {
    const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database })
    await client.connect()
    const results = await client.query({ text, rowMode: 'array' }) as unknown as { rows: unknown[][] }
    await client.end()
    return results.rows
  }
  await run('test', `create database ${database}`)
  return {
    url: `postgres://postgres@127.0.0.1/${database}`,
    query: (sql: string) => run(database, sql),
    remove: () => run('test', `drop database ${database} with (force)`),
  }
}

const SERIAL = 'serial primary key'
const CASES: readonly Case[] = [
  { name: 'better-sqlite3', id: 'integer primary key', async open() {
    const url = join(folder, `${newName()}.db`)
    const withClient = <T>(use: (client: Database.Database) => T) => {
      const client = new Database(url)
      try {
        return use(client)
      }
      finally {
        client.close()
      }
    }
    withClient(client => client.pragma('journal_mode = WAL'))
    return {
      url,
      query: async sql =>
        withClient(client => (sql.startsWith('select') ? (client.prepare(sql).raw().all() as unknown[][]) : (client.exec(sql), []))),
      remove: () => {},
    }
  } },
  { name: 'libsql', id: 'integer primary key', async open() {
    const url = join(folder, `${newName()}.db`)
    return { url, async query(sql) {
      const client = createClient({ url: `file:${url}` })
      const rows = sql.startsWith('select')
        ? (await client.execute(sql)).rows.map(row => Array.from(row as ArrayLike<unknown>))
        : (await client.executeMultiple(sql), [])
      client.close()
      return rows
    }, remove: () => {} }
  } },
  { name: 'pglite', id: SERIAL, async open() {
    const url = join(folder, newName())
    return { url, async query(sql) {
      const client = new PGlite(url)
      const rows = sql.startsWith('select')
        ? ((await client.query(sql, [], { rowMode: 'array' })).rows as unknown[][])
        : (await client.exec(sql), [])
      await client.close()
      return rows
    }, remove: () => {} }
  } },
  { name: 'node-postgres', service: 'postgres', id: SERIAL, open: openPostgres },
  { name: 'postgres.js', service: 'postgres', id: SERIAL, open: openPostgres },
  { name: 'mysql2', service: 'mariadb', id: 'integer auto_increment primary key', async open() {
    const database = newName()
    const admin = await createConnection({ host: '127.0.0.1', user: 'root', multipleStatements: true })
    await admin.query(`create database ${database}; use ${database}`)
    return {
      url: `mysql://root@127.0.0.1/${database}`,
      query: async sql => (await admin.query({ sql, rowsAsArray: true }))[0] as unknown[][],
      async remove() {
        await admin.query(`drop database ${database}`)
        await admin.end()
      },
    }
  } },
]

const reachable = new Set(
  (await Promise.all(SERVICES.map(async service => ((await isReachable(service)) ? service.name : '')))).filter(Boolean),
)

let writer: string
beforeAll(async () => {
  // In the repository, where it finds its packages.
  const outDir = join(root, 'test/e2e/kill/.output')
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: join(root, 'test/e2e/kill/in-commit-writer.ts'), outDir, emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: `in-commit-${process.pid}.mjs`, codeSplitting: false } },
    },
  })
  writer = join(outDir, `in-commit-${process.pid}.mjs`)
}, 60_000)
afterAll(() => {
  for (const path of [folder, writer]) rmSync(path, { recursive: true, force: true })
})

/** Starts the writer, lets it begin some commits, and kills it a moment later. Returns whether a commit had begun and not ended. */
function killOnce(name: string, url: string, first: number, mode: string, commits: number, delay: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writer, name, url, String(first), mode], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [errors, begun, last, armed] = ['', 0, '', false]
    child.stderr.on('data', chunk => errors += chunk)
    child.stdout.on('data', (chunk) => {
      for (const line of String(chunk).split('\n').filter(Boolean)) {
        last = line
        if (line.startsWith('begin')) begun++
      }
      if (begun < commits || armed) return
      armed = true
      const until = process.hrtime.bigint() + BigInt(Math.round(delay * 1000))
      while (process.hrtime.bigint() < until) { /* a timer would be too coarse */ }
      child.kill('SIGKILL')
    })
    child.on('close', (_code, signal) => signal === 'SIGKILL' ? resolve(last.startsWith('begin')) : reject(new Error(errors)))
  })
}

const DIALECTS: Readonly<Record<string, Dialect>> = { 'better-sqlite3': 'sqlite', 'libsql': 'sqlite', 'mysql2': 'mysql' }

/** What a commit that was written in part leaves. */
const HALVES = [
  // A change without its entry, or an entry without its change.
  `select id from items where id not in (select cast(record_id as INT) from entries where kind = 'create')`,
  `select record_id from entries where cast(record_id as INT) not in (select id from items)`,
  `select id from items where place >= 100 and id not in (select cast(record_id as INT) from entries where kind = 'update')`,
  `select record_id from entries where kind = 'update' and cast(record_id as INT) not in (select id from items where place >= 100)`,
  `select id from items where deleted_at is not null and id not in (select cast(record_id as INT) from entries where kind = 'delete')`,
  `select record_id from entries where kind = 'delete' and cast(record_id as INT) not in (select id from items where deleted_at is not null)`,
  `select kind, record_id from entries group by kind, record_id having count(*) <> 1`,
  `select batch from items group by batch having count(*) <> ${SIZE}`,
]

/** What a batch of steps leaves that was written in part. */
const HALF_BATCHES = [
  ...HALVES.slice(0, 2),
  `select batch from items group by batch having count(*) <> ${SIZE - 1}`,
  `select batch from items group by batch having min(place) <> -1 or max(place) <> min(id)`,
  `select batch from items where place = -1 and id not in (select cast(record_id as INT) from entries where kind = 'update')`,
]

/** What records and their children leave that were written in part: 3 with 9 each. */
const HALF_NESTED = [
  ...[['items', 'items'], ['lines', 'item_lines']].flatMap(([resource, table]) => [
    `select id from ${table} where id not in (select cast(record_id as INT) from entries where kind = '${resource}')`,
    `select record_id from entries where kind = '${resource}' and cast(record_id as INT) not in (select id from ${table})`,
  ]),
  `select batch from items group by batch having count(*) <> 3`,
  `select id from items where (select count(*) from item_lines where item_id = items.id) <> 9`,
  `select item_id from item_lines group by item_id having count(distinct place) <> 9`,
]

const HALVES_OF: Readonly<Record<string, readonly string[]>> = { batch: HALF_BATCHES, nested: HALF_NESTED }

describe.each(CASES)('$name', ({ name, service, id, open }) => {
  const INT = id.includes('auto_increment') ? 'signed' : 'integer'

  async function killMany(mode: string, kills: number, isDone: (halves: readonly string[]) => boolean) {
    const { url, query, remove } = await open()
    await query(ddl(id))
    const log = mode === 'audit' ? 'audit_log' : 'entries'
    const sql = mode === 'audit' ? await auditLogSql(DIALECTS[name] ?? 'pg') : ''
    for (const statement of sql.split(';').filter(text => text.trim() !== '')) await query(statement)
    const halvesOf = (HALVES_OF[mode] ?? HALVES).map(half => half.replaceAll('entries', log))
    let [unfinished, kill, halves] = [0, 0, [] as string[]]
    for (; kill < kills && !isDone(halves); kill++) {
      // With few kills, none comes before the first commit has ended.
      if (await killOnce(name, url, kill * 1000, mode, (kills < 8 ? 3 : 1) + kill % 7, (kill * 737) % 5000)) unfinished++
      // One query, because PGlite takes a second or more to open its directory.
      const [counts] = await query(
        `select ${halvesOf.map((sql, index) => `(select count(*) from (${sql.replaceAll('INT', INT)}) half${index})`).join()}`,
      )
      halves = halvesOf.filter((_, index) => Number(counts![index]) > 0)
    }
    const entries = Number((await query(`select count(*) from ${log}`))[0]![0])
    await remove()
    return { kills: kill, unfinished, halves, entries }
  }

  it.skipIf(service !== undefined && !reachable.has(service))(
    `leaves a change and its entry, or neither, over ${killsOf(name)} kills`,
    async () => {
      const { kills, unfinished, halves, entries } = await killMany('together', killsOf(name), halves => halves.length > 0)
      console.log(`${name}: ${kills} kills, ${unfinished} during a commit, ${entries} entries`)
      expect(halves).toEqual([])
      expect(entries).toBeGreaterThan(0)
      expect(unfinished).toBeGreaterThan(kills / 4)
    },
    1_800_000,
  )

  it.skipIf(service !== undefined && !reachable.has(service))(
    `leaves a change and its entry of the audit log, or neither, over ${auditKillsOf(name)} kills`,
    async () => {
      const { kills, unfinished, halves, entries } = await killMany('audit', auditKillsOf(name), halves => halves.length > 0)
      console.log(`${name}, audit log: ${kills} kills, ${unfinished} during a commit, ${entries} entries`)
      expect(halves).toEqual([])
      expect(entries).toBeGreaterThan(0)
      if (isRelease) expect(unfinished).toBeGreaterThan(kills / 4)
    },
    1_800_000,
  )

  it.skipIf(service !== undefined && !reachable.has(service)).each([
    ['all steps of a batch', 'batch'],
    ['3 records with 9 children each', 'nested'],
  ])(
    `leaves %s, or none, over ${stepKillsOf(name)} kills`,
    async (_, mode) => {
      const { kills, unfinished, halves, entries } = await killMany(mode, stepKillsOf(name), halves => halves.length > 0)
      console.log(`${name}, ${mode}: ${kills} kills, ${unfinished} during a commit, ${entries} entries`)
      expect(halves).toEqual([])
      expect(entries).toBeGreaterThan(0)
      if (kills > 8) expect(unfinished).toBeGreaterThan(kills / 4)
    },
    1_800_000,
  )

  it.skipIf(service !== undefined && !reachable.has(service))(
    `leaves a request and its key, or neither, over ${auditKillsOf(name)} kills, and the retry replays`,
    async () => {
      const { url, query, remove } = await open()
      await query(ddl(id))
      const counts = async () =>
        (
          await query(`select (select count(*) from items), (select count(*) from (select batch from items group by batch having count(*) <> ${SIZE}) parts),
      (select count(*) from idempotency_keys where parent is null), (select count(*) from idempotency_keys where parent is not null)`)
        )[0]!.map(Number)
      let items = 0
      for (let kill = 0; kill < auditKillsOf(name); kill++) {
        // The writer sends the last two batches again.
        await killOnce(name, url, Math.max(0, items / SIZE - 2), 'keys', 3 + (kill % 7), (kill * 737) % 5000)
        const [written, parts, keys, records] = await counts()
        expect({ parts, keys, records }).toEqual({ parts: 0, keys: written! / SIZE, records: written })
        items = written!
      }
      expect(items).toBeGreaterThan(0)
      await remove()
    },
    1_800_000,
  )

  // The control of the tests above. One driver shows that a kill finds a gap between two commits.
  if (name === 'better-sqlite3') it('leaves a change without its entry when the entry is written after the commit', async () => {
    const { halves } = await killMany('apart', 60, halves => halves.length > 0)
    expect(halves).not.toEqual([])
  }, 300_000)
})
