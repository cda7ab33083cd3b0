/** The Nitro task `auto-api:plugins`. Every minute it runs the tasks of plugins that are due. `payload.task` runs only the named task. */
import { runTasks } from '../plugin/tasks'
import { useApi } from '../runtime'

export async function runPluginTasks(now: Date, only?: unknown): Promise<readonly string[]> {
  const api = useApi()
  await api.whenReady()
  return runTasks(api.tasks, now, only)
}

export default {
  meta: { description: 'Run the tasks of plugins that are due' },
  run: async ({ payload }: { payload?: { task?: unknown } }) => ({ result: await runPluginTasks(new Date(), payload?.task) }),
}
