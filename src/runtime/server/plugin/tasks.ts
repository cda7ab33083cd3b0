/** Work of plugins that comes round by itself, told by the clock alone: nothing to keep, the same in every process. */
import { pluginTasks, whenReady } from '../runtime'

const MINUTE = 60_000

/**
 * @param only a task by its name, `plugin:task`, whether it is due or not
 * @returns the names of those that ran
 * @throws When there is no such task, and in the end what a task threw.
 */
export async function runPluginTasks(now: Date, only?: unknown): Promise<readonly string[]> {
  await whenReady()
  const tasks = pluginTasks()
  if (only !== undefined && !tasks.has(String(only))) throw new Error(`[auto-api] There is no task \`${String(only)}\`; there are ${[...tasks.keys()].join(', ') || 'none'}.`)
  const minute = Math.floor(now.getTime() / MINUTE)
  const due = [...tasks].filter(([name, { every }]) => only === undefined ? minute % every === 0 : name === only)
  const results = await Promise.allSettled(due.map(async ([, { run }]) => run()))
  const failed = results.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
  return due.map(([name]) => name)
}
