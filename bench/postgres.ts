/** Measures the handwritten handler and the registered resource on Postgres, with the same rows: list, include and get. */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import pg from 'pg'
import type { Sample } from './dataset.ts'
import { measure, toTargets, type Effort, type Generator } from './measure.ts'
import { OPERATIONS } from './operations.ts'
import * as schema from './postgres/server/database/schema.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import { assertSameResponses } from './verify.ts'

const { generateDrizzleJson, generateMigration } = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')

const POSTGRES = { host: '127.0.0.1', port: 5432, user: 'postgres' }
const MEASURED = ['list 20', 'include author', 'get']
const folder = fileURLToPath(new URL('./postgres', import.meta.url))

/** The compared implementations. The first one is the baseline. */
const IMPLEMENTATIONS = [
  { key: 'a', title: 'handwritten, on Postgres', posts: '/hand/posts' },
  { key: 'd', title: 'nuxt-auto-api, on Postgres', posts: '/api/posts' },
  { key: 'named', title: 'd on Postgres with `prepare`', posts: '/api/posts', environment: () => ({ BENCH_PREPARE: '1' }) },
].map(implementation => ({ ...implementation, entry: `${folder}/.output/server/index.mjs` }))

/** Prints a warning and returns nothing if no Postgres runs on this machine. */
export async function comparePostgres(file: string, sample: Sample, generator: Generator, effort: Effort): Promise<Measured[]> {
  const admin = new pg.Client({ ...POSTGRES, database: 'postgres' })
  try {
    await admin.connect()
  }
  catch {
    console.warn(`left out: Postgres does not respond on ${POSTGRES.host}:${POSTGRES.port}`)
    return []
  }
  const database = `auto_api_bench_${process.pid}`
  const servers: RunningServer[] = []
  try {
    console.info('building the app and the database on Postgres …')
    const { status, stdout, stderr } = spawnSync('nuxi', ['build', folder], {
      env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1' },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`The app does not build.\n${stdout}\n${stderr}`)
    await admin.query(`create database ${database}`)
    await copyRows(file, database)
    for (const implementation of IMPLEMENTATIONS)
      servers.push(await startServer(implementation, `postgres://${POSTGRES.user}@${POSTGRES.host}:${POSTGRES.port}/${database}`))
    const measured: Measured[] = []
    for (const operation of OPERATIONS.filter(({ title }) => MEASURED.includes(title))) {
      const bytes = await assertSameResponses(operation, servers, sample)
      console.info(`measuring ${operation.title} on Postgres …`)
      measured.push({
        operation: `${operation.title}, Postgres`,
        bytes,
        readings: await measure(toTargets(operation, servers, sample), generator, effort),
      })
    }
    return measured
  }
  finally {
    await Promise.all(servers.map(server => server.stop()))
    await admin.query(`drop database if exists ${database} with (force)`)
    await admin.end()
  }
}

/** Copies the rows of the SQLite file to Postgres. */
async function copyRows(file: string, database: string): Promise<void> {
  const source = new Database(file, { readonly: true })
  const target = new pg.Client({ ...POSTGRES, database })
  await target.connect()
  try {
    for (const statement of await generateMigration(generateDrizzleJson({}), generateDrizzleJson(schema))) await target.query(statement)
    for (const table of ['organizations', 'users', 'posts']) {
      const rows = source.prepare<[], Record<string, unknown>>(`select * from ${table}`).all().map(toPostgres)
      for (let start = 0; start < rows.length; start += 10_000) {
        await target.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
          JSON.stringify(rows.slice(start, start + 10_000)),
        ])
      }
    }
    await target.query('vacuum analyze')
  }
  finally {
    source.close()
    await target.end()
  }
}

function toPostgres(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    name === 'featured' ? value === 1 : name.endsWith('_at') && value !== null ? new Date(value as number).toISOString() : value,
  ])
  return Object.fromEntries(entries) as Record<string, unknown>
}
