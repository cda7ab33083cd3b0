/** Tasks: when they are due, which server runs them, what is logged, and the task of the trash. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { PGlite } from '@electric-sql/pglite'
import { drizzle as pglite } from 'drizzle-orm/pglite'
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../../../src/runtime/server/define'
import { taskRunsTable } from '../../../../src/runtime/plugins/schema-sqlite'
import { createServer, type ServerOptions } from '../../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const taskRuns = taskRunsTable()

const TABLES = `create table posts (id integer primary key, title text not null, deleted_at integer);
  create table task_runs (task text primary key, due integer not null)`

let client: Database.Database
let ran: string[]
beforeEach(() => {
  ran = []
  client = new Database(':memory:')
  client.exec(TABLES)
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  client.close()
  vi.restoreAllMocks()
})

const at = (minute: number) => new Date(minute * 60_000)
const task = (name: string, every: number, run = (): unknown => ran.push(name)): AutoApiPlugin =>
  defineAutoApiPlugin({ name, tasks: { run: { every, run } } })

/** A server whose schema exports the table `task_runs`, unless `exports` names other tables. */
async function start(
  plugins: readonly unknown[],
  { exports = { posts, taskRuns }, ...options }: Partial<ServerOptions> & { exports?: Record<string, unknown> } = {},
) {
  await createServer({
    db: drizzle({ client }),
    registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: true }, softDelete: { retentionDays: 1 } } }],
    modules: [exports],
    plugins,
    ...options,
  })
  const { useApi } = await import('../../../../src/runtime/server/runtime')
  const { runPluginTasks } = await import('../../../../src/runtime/server/tasks/plugins')
  const api = useApi()
  return {
    api,
    run: (minute: number) => api.scheduler.runDue(at(minute)),
    byHand: (name: string) => runPluginTasks(at(0), { payload: { task: name } }),
  }
}

const WITHOUT_TABLE = { exports: { posts } }

describe.each([['with the table of task runs', {}], ['without the table of task runs', WITHOUT_TABLE]])('%s, a task', (_what, options) => {
  it('runs once for each due time', async () => {
    const { run } = await start([task('often', 1), task('seldom', 60)], options)
    expect(await run(59)).toEqual(['often:run'])
    expect(await run(60)).toEqual(['often:run', 'seldom:run'])
    expect(await run(60)).toEqual([])
    expect(await run(61)).toEqual(['often:run'])
    expect(ran).toEqual(['often', 'often', 'seldom', 'often'])
  })

  it('runs late, once, when the server missed its minute', async () => {
    const { run } = await start([task('seldom', 10)], options)
    expect([await run(10), await run(23), await run(24), await run(30)]).toEqual([['seldom:run'], ['seldom:run'], [], ['seldom:run']])
  })

  it('waits for its next due time when it is new', async () => {
    const { run } = await start([task('seldom', 10)], options)
    expect([await run(5), await run(9), await run(10)]).toEqual([[], [], ['seldom:run']])
  })

  it('does not run again when the clock is set back', async () => {
    const { run } = await start([task('often', 1)], options)
    expect([await run(10), await run(9), await run(10), await run(11)]).toEqual([['often:run'], [], [], ['often:run']])
  })

  it('runs once when it is started twice at the same time', async () => {
    const { run } = await start([task('often', 1)], options)
    expect((await Promise.all([run(10), run(10)])).flat()).toEqual(['often:run'])
  })

  it('gets its due time and the event of the Nitro task', async () => {
    const work = vi.fn()
    const { api } = await start([task('seldom', 10, work)], options)
    const event = { name: 'auto-api:plugins', payload: {} }
    await api.scheduler.runDue(at(10), event)
    await api.scheduler.runDue(at(23), event)
    expect(work.mock.calls).toEqual([[{ due: at(10), event }], [{ due: at(20), event }]])
  })

  it('that throws is logged with its name, and the others run', async () => {
    const broken = task('broken', 1, () => {
      throw new Error('no connection')
    })
    const { run } = await start([broken, task('whole', 1)], options)
    expect(await run(1)).toEqual(['whole:run'])
    expect(vi.mocked(console.error).mock.calls).toEqual([
      ['[auto-api] The task `broken:run` failed.', expect.stringMatching(/^Error: no connection\n/)],
    ])
    expect([await run(1), await run(2)]).toEqual([[], ['whole:run']])
  })

  it('runs by hand whether it is due or not, and its error is thrown', async () => {
    const broken = task('broken', 1, () => {
      throw new Error('no connection')
    })
    const { run, byHand } = await start([broken, task('seldom', 60)], options)
    await run(60)
    expect([await byHand('seldom:run'), await byHand('seldom:run')]).toEqual([['seldom:run'], ['seldom:run']])
    expect(await run(120)).toEqual(['seldom:run'])
    await expect(byHand('broken:run')).rejects.toThrow('no connection')
    await expect(byHand('never:run')).rejects.toThrow('There is no task `never:run`. The tasks are: broken:run, seldom:run.')
  })
})

describe('the table of task runs', () => {
  it('records the last due time of each task', async () => {
    const { run } = await start([task('often', 1), task('seldom', 60)])
    await run(61)
    expect(client.prepare('select task, due from task_runs order by task').raw().all()).toEqual([
      ['often:run', 61 * 60_000],
      ['seldom:run', 60 * 60_000],
    ])
  })

  it('lets one of several servers run each due time, also after a restart', async () => {
    const first = await start([task('often', 1), task('seldom', 10)])
    const second = await start([task('often', 1), task('seldom', 10)])
    expect([await first.run(10), await second.run(10), await second.run(11), await first.run(11)]).toEqual([
      ['often:run', 'seldom:run'],
      [],
      ['often:run'],
      [],
    ])
    const restarted = await start([task('often', 1), task('seldom', 10)])
    expect([await restarted.run(11), await restarted.run(12)]).toEqual([[], ['often:run']])
  })

  it('loses no due time when a server whose clock is behind records the first one at the same moment', async () => {
    const [behind, right] = [await start([task('often', 1)]), await start([task('often', 1)])]
    expect(await Promise.all([behind.run(9), right.run(10)])).toEqual([['often:run'], ['often:run']])
    expect(client.prepare('select due from task_runs').pluck().all()).toEqual([10 * 60_000])
  })

  it('lets a server that starts late run the due time that all servers missed', async () => {
    await (await start([task('seldom', 10)])).run(10)
    expect(await (await start([task('seldom', 10)])).run(27)).toEqual(['seldom:run'])
  })

  it('does not stop a task until the wrong time of a server whose clock is far ahead', async () => {
    const [right, wrong] = [await start([task('often', 1)]), await start([task('often', 1)])]
    expect([await right.run(10), await wrong.run(9_000_000), await right.run(11), await right.run(12)]).toEqual([
      ['often:run'],
      ['often:run'],
      ['often:run'],
      ['often:run'],
    ])
  })

  it('stops the tasks while the database cannot record them, logs why, and the next minute tries again', async () => {
    const { run } = await start([task('seldom', 10)])
    client.exec('alter table task_runs rename to away')
    expect([await run(10), await run(11)]).toEqual([[], []])
    expect(ran).toEqual([])
    const [, error] = vi.mocked(console.error).mock.calls[0]!
    expect(error).toContain(
      '[auto-api] The task `seldom:run` did not run, because the server could not record its run in the table `task_runs`.',
    )
    expect(error).toContain('[cause]: ')
    client.exec('alter table away rename to task_runs')
    // No server has recorded the task yet, so it starts with its next due time.
    expect([await run(12), await run(20)]).toEqual([[], ['seldom:run']])
  })

  it('can have another name', async () => {
    const { run } = await start([task('often', 1)], { exports: { posts, runs: taskRunsTable('runs_of_tasks') } })
    client.exec('create table runs_of_tasks (task text primary key, due integer not null)')
    expect(await run(1)).toEqual(['often:run'])
    expect(client.prepare('select count(*) from runs_of_tasks').pluck().get()).toBe(1)
  })

  it('may be exported by several files, but must be one table', async () => {
    const { run } = await start([task('often', 1)], { modules: [{ posts, taskRuns }, { again: taskRuns }] })
    expect(await run(1)).toEqual(['often:run'])
    await expect(start([], { exports: { posts, taskRuns, other: taskRunsTable('other') } })).rejects.toThrow(
      '`task_runs` and `other` are made by the same preset. Export only one.',
    )
  })

  it('is not a table of the same shape that the app made itself', async () => {
    const own = sqliteTable('task_runs', { task: text('task').primaryKey(), due: integer('due', { mode: 'timestamp_ms' }).notNull() })
    const { run } = await start([task('often', 1)], { exports: { posts, own } })
    expect(await run(1)).toEqual(['often:run'])
    expect(client.prepare('select count(*) from task_runs').pluck().get()).toBe(0)
  })
})

it('a database that comes with the event of the Nitro task is the one of the claims and of the tasks', async () => {
  const { getDatabase } = await import('../../../../src/runtime/server/database')
  const db = drizzle({ client })
  const used: unknown[] = []
  const report = defineAutoApiPlugin({ name: 'report', tasks: { run: { every: 1, run: ({ event }) => used.push(getDatabase(event)) } } })
  await start([report], { db: (event?: { context: { env: { DB: object } } }) => event!.context.env.DB })
  const { default: nitroTask } = await import('../../../../src/runtime/server/tasks/plugins')
  expect(await nitroTask.run({ name: 'auto-api:plugins', payload: {}, context: { env: { DB: db } } } as never)).toEqual({
    result: ['report:run'],
  })
  expect(used).toEqual([db])
  expect(client.prepare('select task from task_runs').pluck().all()).toEqual(['report:run'])
})

describe('the task auto-api:trash', () => {
  const trash = async (event?: object) => (await import('../../../../src/runtime/server/tasks/trash')).default.run(event)
  const fill = () => client.exec(`insert into posts (title, deleted_at) values ('old', 0)`)
  const scheduled = { payload: { scheduledTime: 0 } }
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([
    ['Nitro', scheduled],
    ['Cloudflare', { payload: {}, context: { cloudflare: { env: {} } } }],
  ])('runs on one server when %s schedules it', async (_what, event) => {
    vi.useFakeTimers({ now: 60_000 * 100_000 + 400, toFake: ['Date'] })
    await start([])
    fill()
    expect(await trash(event)).toEqual({ result: { posts: 1 } })
    fill()
    await start([])
    // The timer of the other server fired early.
    vi.setSystemTime(60_000 * 100_000 - 20_000)
    expect(await trash(event)).toEqual({ result: {} })
    vi.setSystemTime(60_000 * 100_001)
    expect(await trash(event)).toEqual({ result: { posts: 1 } })
  })

  it('runs on each server without the table', async () => {
    await start([], WITHOUT_TABLE)
    fill()
    expect(await trash(scheduled)).toEqual({ result: { posts: 1 } })
    fill()
    expect(await trash(scheduled)).toEqual({ result: { posts: 1 } })
  })

  it('always runs by hand', async () => {
    await start([])
    for (const event of [undefined, { payload: {} }]) {
      fill()
      expect(await trash(event)).toEqual({ result: { posts: 1 } })
    }
    expect(client.prepare('select count(*) from task_runs').pluck().get()).toBe(0)
  })
})

describe('a database that several servers can share', () => {
  const postgres = () => ({ db: nodePostgres('postgres://postgres@127.0.0.1:1/none'), engine: 'postgres' as const })
  const startup = async () => {
    const { default: startApi } = await import('../../../../src/runtime/server/nitro/start')
    startApi({})
    await new Promise(resolve => setTimeout(resolve))
    return vi.mocked(console.warn).mock.calls.flat().filter(text => String(text).includes('taskRunsTable'))
  }

  it('without the table of task runs is warned about once, at startup, with the tasks', async () => {
    const { run } = await start([task('often', 1)], { ...WITHOUT_TABLE, ...postgres() })
    expect(await startup()).toEqual([
      '[auto-api] If several servers run, each of them runs the tasks `often:run`, `auto-api:trash`. To run each task once, export `taskRunsTable()` of `nuxt-auto-api/schema/…` from a file that contains a registered table.',
    ])
    await run(1)
    expect(await startup()).toHaveLength(1)
  })

  it('is not warned about with the table, or without tasks', async () => {
    await start([task('often', 1)], postgres())
    expect(await startup()).toEqual([])
    await start([], {
      ...WITHOUT_TABLE,
      ...postgres(),
      registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: true } } }],
    })
    expect(await startup()).toEqual([])
  })

  it('is not a database inside the process', async () => {
    await start([task('often', 1)], WITHOUT_TABLE)
    expect(await startup()).toEqual([])
    const embedded = new PGlite()
    await start([task('often', 1)], { ...WITHOUT_TABLE, db: pglite({ client: embedded }), engine: 'postgres' })
    expect(await startup()).toEqual([])
    await embedded.close()
  })

  it('is warned about at the first run when the app sets its database after the start', async () => {
    const { run } = await start([task('often', 1)], { ...WITHOUT_TABLE, db: () => {
      throw new Error('no request')
    }, engine: 'postgres' })
    expect(await startup()).toEqual([])
    const { initializeDatabase } = await import('../../../../src/runtime/server/database')
    const { db, engine } = postgres()
    initializeDatabase(db, engine)
    await run(1)
    expect(vi.mocked(console.warn).mock.calls).toHaveLength(1)
  })
})
