/** Runs the tasks of plugins that are due. Only the clock decides which tasks are due, so all processes agree without a store. */
import type { PluginTask } from './contract'

const MINUTE = 60_000

/**
 * @param only the name of a task, `plugin:task`. This task runs even if it is not due.
 * @returns the names of the tasks that ran
 * @throws When there is no such task. An error of a task is thrown after all tasks ran.
 */
export async function runTasks(tasks: ReadonlyMap<string, PluginTask>, now: Date, only?: unknown): Promise<readonly string[]> {
  if (only !== undefined && !tasks.has(String(only))) {
    throw new Error(`[auto-api] There is no task \`${String(only)}\`. The tasks are: ${[...tasks.keys()].join(', ') || 'none'}.`)
  }
  const minute = Math.floor(now.getTime() / MINUTE)
  const due = [...tasks].filter(([name, { every }]) => only === undefined ? minute % every === 0 : name === only)
  const results = await Promise.allSettled(due.map(async ([, { run }]) => run()))
  const failed = results.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
  return due.map(([name]) => name)
}
