/** The Nitro task `auto-api:plugins`. Every minute it runs the tasks of plugins that are due. `payload.task` runs only the named task. */
import { isStopping, keepRunning } from '../core/process/in-flight'
import { useApi } from '../runtime'

interface TaskEvent {
  readonly payload?: { readonly task?: unknown }
}

/** @returns the names of the tasks that this server ran */
export async function runPluginTasks(now: Date, event?: TaskEvent): Promise<readonly string[]> {
  const api = useApi(event)
  await api.whenReady()
  const task = event?.payload?.task
  if (task === undefined) return isStopping() ? [] : api.scheduler.runDue(now, event)
  await api.scheduler.runNow(String(task), event)
  return [String(task)]
}

export default {
  meta: { description: 'Run the tasks of plugins that are due' },
  run: async (event?: TaskEvent) => ({ result: await keepRunning(runPluginTasks(new Date(), event)) }),
}
