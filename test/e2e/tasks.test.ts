/** Each due task runs once, although several processes with different clocks share the database. */
import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { taskRunsSql } from '../engines/support/task-runs'
import { root } from '../support/once'
import { isReachable, SERVICES } from '../support/services'

const MINUTE = 60_000
const SLOTS = 20
/** Minutes by which the clocks of the processes are wrong: less than half the interval of one minute. */
const SKEWS = [0, 0.4, -0.4]

interface Case {
  readonly engine: string
  readonly dialect: Dialect
  readonly service?: string
  /** Creates an empty database. */
  readonly create: (sql: string) => Promise<{ readonly url: string, readonly remove: () => Promise<void> | void }>
}

async function createFile(sql: string) {
  const folder = mkdtempSync(join(tmpdir(), 'auto-api-tasks-'))
  const url = join(folder, 'tasks.db')
  const client = new Database(url)
  client.exec(sql)
  client.close()
  return { url, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

const name = () => `tasks_${randomUUID().replaceAll('-', '')}`

const CASES: readonly Case[] = [
  { engine: 'better-sqlite3', dialect: 'sqlite', create: createFile },
  { engine: 'libsql', dialect: 'sqlite', create: createFile },
  { engine: 'postgres', dialect: 'pg', service: 'postgres', async create(sql) {
    const database = name()
    const run = async (database: string, text: string) => {
      const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database })
      await client.connect()
      await client.query(text)
      await client.end()
    }
    await run('test', `create database ${database}`)
    await run(database, sql)
    return { url: `postgres://postgres@127.0.0.1/${database}`, remove: () => run('test', `drop database ${database} with (force)`) }
  } },
  { engine: 'mysql', dialect: 'mysql', service: 'mariadb', async create(sql) {
    const database = name()
    const admin = await createConnection({ host: '127.0.0.1', user: 'root', multipleStatements: true })
    await admin.query(`create database ${database}; use ${database}; ${sql}`)
    return { url: `mysql://root@127.0.0.1/${database}`, async remove() {
      await admin.query(`drop database ${database}`)
      await admin.end()
    } }
  } },
]

const reachable = new Set(
  (await Promise.all(SERVICES.map(async service => ((await isReachable(service)) ? service.name : '')))).filter(Boolean),
)

let script: string
beforeAll(async () => {
  // In the repository, where it finds its packages.
  const outDir = join(root, 'test/e2e/tasks/.output')
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, external: ['better-sqlite3', '@libsql/client', 'pg', 'mysql2'] },
    build: {
      ssr: join(root, 'test/e2e/tasks/server.ts'), outDir, emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: `server-${process.pid}.mjs`, codeSplitting: false } },
    },
  })
  script = join(outDir, `server-${process.pid}.mjs`)
})
afterAll(() => rmSync(script, { force: true }))

describe.each(CASES)('processes that share a database of $engine', ({ engine, dialect, service, create }) => {
  describe.skipIf(service !== undefined && !reachable.has(service))('a task', () => {
    const close: (() => unknown)[] = []
    afterEach(async () => {
      for (const step of close.splice(0)) await step()
    })

    /** The due times that the processes ran, for twenty minutes of their clocks. */
    async function run(claims: 'claims' | 'none'): Promise<number[]> {
      const { url, remove } = await create(await taskRunsSql(dialect))
      const servers = await Promise.all(SKEWS.map(async (skew) => {
        const child: ChildProcess = fork(script, [engine, url, claims])
        close.push(() => void child.kill('SIGKILL'))
        await once(child, 'message')
        return { child, skew }
      }))
      close.push(remove)
      const ran: number[] = []
      for (let minute = 0; minute < SLOTS; minute += 0.5) {
        const answers = await Promise.all(servers.map(async ({ child, skew }) => {
          child.send((minute + skew + 1) * MINUTE)
          const [runs] = await once(child, 'message') as [number[]]
          return runs
        }))
        ran.push(...answers.flat())
      }
      return ran.map(due => due / MINUTE)
    }

    it(`runs once for each of ${SLOTS} due times`, async () => {
      const ran = await run('claims')
      // The process whose clock is behind can run the due time before the first one.
      expect(ran.filter(due => due > 0).toSorted((a, b) => a - b)).toEqual(Array.from({ length: SLOTS }, (_, index) => index + 1))
    })

    it('runs in each process without the table of task runs', async () => {
      expect((await run('none')).length).toBeGreaterThan(2 * SLOTS)
    })
  })
})
