/** `auto-api:plugins`, run every minute: the tasks of plugins whose turn it is; with a payload's `task`, that one. */
import { runPluginTasks } from '../plugin/tasks'

export default {
  meta: { description: 'Run the tasks of plugins that are due' },
  run: async ({ payload }: { payload?: { task?: unknown } }) => ({ result: await runPluginTasks(new Date(), payload?.task) }),
}
