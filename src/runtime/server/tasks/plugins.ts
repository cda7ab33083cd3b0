/** The Nitro task `auto-api:plugins`, run every minute: the tasks of plugins that are due, or the one named by `payload.task`. */
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
