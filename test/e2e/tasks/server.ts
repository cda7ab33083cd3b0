/** One server of several that share a database: it runs a task when its parent process says that a minute has passed. */
import { createClient } from '@libsql/client'
import Database from 'better-sqlite3'
import { drizzle as betterSqlite3 } from 'drizzle-orm/better-sqlite3'
import { drizzle as libsql } from 'drizzle-orm/libsql'
import { drizzle as mysql2 } from 'drizzle-orm/mysql2'
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { createDatabase } from '../../../src/runtime/server/core/replicas/database'
import type { EngineName } from '../../../src/runtime/server/engines/index'
import { createScheduler } from '../../../src/runtime/server/plugin/tasks'
import { TASK_RUNS } from '../../engines/support/task-runs'

const OPEN: Readonly<Partial<Record<EngineName, (url: string) => object>>> = {
  'better-sqlite3': url => betterSqlite3({ client: new Database(url) }),
  'libsql': url => libsql({ client: createClient({ url: `file:${url}` }) }),
  'postgres': url => nodePostgres({ client: new pg.Pool({ connectionString: url }) }),
  'mysql': url => mysql2({ client: createPool(url) }),
}
const DIALECTS = { 'better-sqlite3': 'sqlite', 'libsql': 'sqlite', 'postgres': 'pg', 'mysql': 'mysql' } as const

const [engine, url, claims] = process.argv.slice(2) as [keyof typeof DIALECTS, string, 'claims' | 'none']

let ran: number[] = []
const database = createDatabase()
database.initialize(OPEN[engine]!(url), engine)
const scheduler = createScheduler({
  tasks: new Map([['report', { every: 1, run: ({ due }: { due: Date }) => void ran.push(due.getTime()) }]]),
  ownTasks: [],
  table: claims === 'claims' ? TASK_RUNS[DIALECTS[engine]] : undefined,
  database,
})

process.on('message', async (now: number) => {
  ran = []
  await scheduler.runDue(new Date(now))
  process.send!(ran)
})
process.send!([])
