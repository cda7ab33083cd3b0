/** On every engine, one of several servers runs each due task, although their clocks differ. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDatabase } from '../../src/runtime/server/core/replicas/database'
import { createScheduler } from '../../src/runtime/server/plugin/tasks'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { TASK_RUNS, taskRunsSql } from './support/task-runs'

const MINUTE = 60_000
const EVERY = 2
const SLOTS = 20
/** Minutes by which the clocks of the servers are wrong: less than half the interval of the task. */
const SKEWS = [0, -0.95, 0.95, 0.4, -0.4]

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('tasks', () => {
    let opened: Opened
    let ran: string[]

    /** @param skew minutes by which the clock of the server is ahead */
    function startServer(task: string, skew = 0) {
      const database = createDatabase()
      database.initialize(opened.db, engineCase.engine)
      const tasks = new Map([[task, { every: EVERY, run: ({ due }: { due: Date }) => void ran.push(`${task} ${due.getTime() / MINUTE}`) }]])
      const { runDue, claimScheduled } = createScheduler({ tasks, ownTasks: [], table: TASK_RUNS[engineCase.dialect], database })
      return { tick: (minute: number) => runDue(new Date((minute + skew) * MINUTE)), claimScheduled }
    }

    const rows = async () => Object.fromEntries((await opened.all('select task, due from task_runs')).map(([task, due]) => [task, due]))

    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(await taskRunsSql(engineCase.dialect))
      ran = []
    })
    afterAll(() => opened?.close())

    it(`run once for each of ${SLOTS} due times, by ${SKEWS.length} servers with different clocks`, async () => {
      ran = []
      const start = 1_000_000
      const servers = SKEWS.map(skew => startServer('shared', skew))
      for (let minute = start; minute < start + EVERY * SLOTS; minute += 0.5) await Promise.all(servers.map(({ tick }) => tick(minute)))
      const due = Array.from({ length: SLOTS }, (_, index) => `shared ${start + EVERY * index}`)
      expect(ran.filter(run => due.includes(run)).sort()).toEqual(due.sort())
      expect(new Set(ran).size).toBe(ran.length)
    })

    it('run once when several servers run them for the first time', async () => {
      ran = []
      for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 6 }, () => startServer(`new ${round}`).tick(EVERY)))
      expect(ran).toEqual(Array.from({ length: 10 }, (_, round) => `new ${round} ${EVERY}`))
    })

    it('start with their next due time when they are new', async () => {
      ran = []
      const server = startServer('late')
      await server.tick(EVERY * 10 + 1)
      expect(ran).toEqual([])
      await server.tick(EVERY * 11)
      expect(ran).toEqual([`late ${EVERY * 11}`])
      expect((await rows()).late).toBeDefined()
    })

    it('run after a server with a wrong clock has claimed a due time of the far future', async () => {
      ran = []
      await startServer('wrong', 1_000_000).tick(EVERY)
      await startServer('wrong').tick(EVERY * 2)
      await startServer('wrong').tick(EVERY * 2)
      await startServer('wrong').tick(EVERY * 3)
      expect(ran.slice(1)).toEqual([`wrong ${EVERY * 2}`, `wrong ${EVERY * 3}`])
    })

    it('that Nitro schedules by themselves run once for each minute', async () => {
      const claims = (milliseconds: number) => Promise.all(SKEWS.map((_, index) =>
        startServer('none').claimScheduled('auto-api:trash', new Date(milliseconds + index * 10 - 20))))
      for (const minute of [100, 101, 1540]) expect((await claims(minute * MINUTE)).filter(claimed => claimed)).toHaveLength(1)
    })

    it('do not run while the table does not exist', async () => {
      ran = []
      const error = vi.spyOn(console, 'error').mockImplementation(() => {})
      await opened.exec('alter table task_runs rename to away')
      await startServer('shared').tick(EVERY * 5_000_000)
      await opened.exec('alter table away rename to task_runs')
      expect(ran).toEqual([])
      expect(error.mock.calls).toEqual([
        ['[auto-api] The task `shared` failed.', expect.stringContaining('in the table `task_runs`')],
      ])
      error.mockRestore()
    })
  })
})
