/** The playground's API built for Cloudflare Workers, in the runtime of Workers, on a D1 with the playground's rows. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import { Miniflare } from 'miniflare'
import * as schema from '../../../playground/server/database/schema'
import { newsroomRows } from '../../../playground/server/database/seed/rows'
import { buildFixture } from '../support/build'
import { root } from '../../support/once'
import { sendRequest } from '../support/request'
import type { Newsroom } from './server'

export interface Edge extends Newsroom {
  readonly directUrl: string
  /** The folder of the files that the platform serves without the worker. */
  readonly assets: string
  /** The keys in the bucket of uploads. */
  readonly stored: () => Promise<string[]>
  /** What the platform does every minute. */
  readonly runCron: () => Promise<unknown>
}

/** @param folder keeps the database: tests read it without the API. */
export async function startEdge(folder: string): Promise<Edge> {
  const build = await buildFixture('edge')
  const output = join(build, 'server')
  const modules = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.mjs'))
  const miniflare = new Miniflare({
    modulesRoot: output,
    modules: [
      // The bundler of Nitro 3 adds exports to the entry that are no handlers. Workers do not start with them.
      { type: 'ESModule', path: join(output, 'worker.mjs'), contents: 'export { default } from "./index.mjs"' },
      ...modules.map(name => ({ type: 'ESModule', path: join(output, name) }) as const),
    ],
    compatibilityDate: '2026-01-01',
    compatibilityFlags: ['nodejs_compat'],
    d1Databases: { DB: 'newsroom' },
    d1Persist: folder,
    r2Buckets: ['FILES'],
    // Miniflare's own worker stands before the app, and does not pass on that a client has left.
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  })
  const url = (await miniflare.ready).origin
  const d1 = await miniflare.getD1Database('DB')
  await fill(d1)
  const database = new Database(fileOf(folder), { readonly: true })
  const bucket = await miniflare.getR2Bucket('FILES') as unknown as { list: () => Promise<{ objects: { key: string }[] }> }
  return {
    url,
    runCron: async () => (await miniflare.getWorker() as unknown as Cron).scheduled({ cron: '* * * * *' }),
    assets: join(build, 'public'),
    stored: async () => (await bucket.list()).objects.map(({ key }) => key),
    directUrl: (await miniflare.unsafeGetDirectURL()).origin,
    request: (path, options) => sendRequest(url + path, options),
    rows: (sql, ...values) => database.prepare(sql).all(...values) as never,
    async stop() {
      database.close()
      await miniflare.dispose()
    },
  }
}

/** The types of Miniflare take the worker for a response. */
interface Cron { readonly scheduled: (options: { readonly cron: string }) => Promise<unknown> }

type D1 = Awaited<ReturnType<Miniflare['getD1Database']>>

/** The playground's migrations and rows. Parents come before children: foreign keys are enforced. */
async function fill(d1: D1): Promise<void> {
  const migrations = join(root, 'playground/server/database/migrations')
  for (const name of readdirSync(migrations, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.sql')).sort()) {
    await d1.batch(readFileSync(join(migrations, name), 'utf8').split('--> statement-breakpoint').map(text => d1.prepare(text)))
  }
  const rows = newsroomRows()
  for (const [name, all] of Object.entries({
    organizations: rows.organizations,
    users: rows.users,
    tags: rows.tags,
    posts: rows.posts,
    postsTags: rows.postsTags,
    comments: rows.comments,
    media: rows.media,
  })) {
    const table = schema[name as 'posts']
    for (let start = 0; start < all.length; start += 500) await insertStatement(d1, table, all.slice(start, start + 500)).run()
  }
}

function insertStatement(d1: D1, table: Table, rows: readonly object[]) {
  const columns = Object.entries(getTableColumns(table))
  const values = rows.map(row => columns.map(([name, column]) => {
    const value = (row as Record<string, unknown>)[name] ?? column.default ?? column.defaultFn?.()
    return value === undefined || value === null ? null : column.mapToDriverValue(value)
  }))
  return d1
    .prepare(
      `insert into ${getTableName(table)} (${columns.map(([, column]) => column.name).join()}) select ${columns.map((_, index) => `value ->> ${index}`).join()} from json_each(?)`,
    )
    .bind(JSON.stringify(values))
}

/** The file of the runtime's only database. */
function fileOf(folder: string): string {
  const name = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find(
    name => name.endsWith('.sqlite') && !name.endsWith('metadata.sqlite'),
  )
  if (!name) throw new Error(`no database in ${folder}`)
  return join(folder, name)
}
