/** Runs tasks when they are due: once for each due time, also if several servers share the database. */
import type { Table } from 'drizzle-orm'
import { logError } from '../core/process/log'
import type { Database } from '../core/replicas/database'
import { isEmbedded } from '../engines/in-process-driver'
import type { PluginTask } from './contract'
import { claimFailed, claimTask, type DueTask } from './task-runs'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

export interface SchedulerOptions {
  /** The tasks of plugins by `plugin:task`. Plugins that are set up asynchronously add theirs later. */
  readonly tasks: ReadonlyMap<string, PluginTask>
  /** Tasks that Nitro schedules by themselves. */
  readonly ownTasks: readonly string[]
  /** The table in which servers claim tasks. Without it, each server runs every task. */
  readonly table: Table | undefined
  readonly database: Database
}

export interface Scheduler {
  /**
   * Runs the due tasks. Call it every minute. A due time that the server missed is run late.
   * @param event the event of the Nitro task. It is required if the database comes with the event.
   * @returns the names of the tasks that this server ran without an error. Errors are logged.
   */
  readonly runDue: (now: Date, event?: object) => Promise<readonly string[]>
  /** Runs one task now, whether it is due or not. @throws When there is no such task, or the task throws. */
  readonly runNow: (task: string, event?: object) => Promise<void>
  /** Claims the run of a task that Nitro schedules by itself. @returns whether this server runs it. */
  readonly claimScheduled: (task: string, now: Date, event?: object) => Promise<boolean>
  /** Warns once if several servers would each run every task. Does nothing while the database is not known. */
  readonly warnIfShared: (event?: object) => void
}

export function createScheduler({ tasks, ownTasks, table, database }: SchedulerOptions): Scheduler {
  /** The last due time of each task that this server ran, or that another server has claimed. */
  const handled = new Map<string, number>()
  let warned = false

  async function claim(due: DueTask, isNow: boolean, event: object | undefined): Promise<boolean> {
    try {
      return !table || await claimTask(database.engine(event), table, due, isNow)
    }
    catch (error) {
      throw claimFailed(due.task, table!, error)
    }
  }

  async function runIfDue(task: string, { every, run }: PluginTask, now: Date, event: object | undefined): Promise<boolean> {
    const minute = Math.floor(now.getTime() / MINUTE)
    const late = minute % every
    const due = (minute - late) * MINUTE
    const before = handled.get(task)
    if (before !== undefined && due <= before) return false
    handled.set(task, due)
    // Only the table knows whether a server that starts late has missed a due time.
    if (before === undefined && late > 0 && !table) return false
    const isClaimed = await claim({ task, due: new Date(due), interval: every * MINUTE }, late === 0, event).catch((error: unknown) => {
      // The next minute tries again.
      if (before === undefined) handled.delete(task)
      else handled.set(task, before)
      throw error
    })
    if (isClaimed) await run({ due: new Date(due), event })
    return isClaimed
  }

  function warnIfShared(event?: object): void {
    const names = [...tasks.keys(), ...ownTasks]
    if (warned || table || names.length === 0 || !isShared(database, event)) return
    warned = true
    console.warn(
      `[auto-api] If several servers run, each of them runs the tasks ${names.map(name => `\`${name}\``).join(', ')}. `
      + 'To run each task once, export `taskRunsTable()` of `nuxt-auto-api/schema/…` from a file that contains a registered table.',
    )
  }

  return {
    async runDue(now, event) {
      warnIfShared(event)
      const results = await Promise.all([...tasks].map(async ([name, task]) => {
        try {
          return await runIfDue(name, task, now, event) ? [name] : []
        }
        catch (error) {
          logError(undefined, `The task \`${name}\` failed.`, error)
          return []
        }
      }))
      return results.flat()
    },
    async runNow(name, event) {
      const task = tasks.get(name)
      if (!task) throw new Error(`[auto-api] There is no task \`${name}\`. The tasks are: ${[...tasks.keys()].join(', ') || 'none'}.`)
      await task.run({ due: new Date(), event })
    },
    claimScheduled(task, now, event) {
      warnIfShared(event)
      // Timers run some milliseconds early or late.
      return claim({ task, due: new Date(Math.round(now.getTime() / MINUTE) * MINUTE), interval: DAY }, true, event)
    },
    warnIfShared,
  }
}

/** Whether several servers can use the database. A database that comes with the request belongs to a platform that runs each task once. */
function isShared(database: Database, event: object | undefined): boolean {
  if (event && 'context' in event && isPlatform(event.context)) return false
  try {
    return !isEmbedded(database.engine(event), database.get(event))
  }
  catch {
    return false
  }
}

const isPlatform = (context: unknown) => typeof context === 'object' && context !== null && 'cloudflare' in context
