/** The module's Nitro tasks and their default schedules. */
import type { Nuxt } from 'nuxt/schema'

const TRASH = 'auto-api:trash'
/** The cron expression for every day at 03:17. */
const DAILY = '17 3 * * *'

interface TaskOptions {
  experimental?: { tasks?: boolean }
  tasks?: Record<string, { handler: string, description: string }>
  scheduledTasks?: Record<string, string | string[]>
}

/** Registers the task `auto-api:trash`. If the app schedules the task itself, the default schedule is not added. */
export function addTasks(nuxt: Nuxt, resolve: (path: string) => string): void {
  const nitro = nuxt.options.nitro as TaskOptions
  nitro.experimental = { ...nitro.experimental, tasks: true }
  nitro.tasks = {
    ...nitro.tasks,
    [TRASH]: {
      handler: resolve('./runtime/server/tasks/trash'),
      description: 'Purge rows that have been in the trash for longer than retentionDays',
    },
  }
  const scheduled = Object.values(nitro.scheduledTasks ?? {}).flat()
  if (!scheduled.includes(TRASH))
    nitro.scheduledTasks = { ...nitro.scheduledTasks, [DAILY]: [nitro.scheduledTasks?.[DAILY] ?? [], TRASH].flat() }
}

const PLUGINS = 'auto-api:plugins'
const EVERY_MINUTE = '* * * * *'

/** Registers the task `auto-api:plugins`. It runs every minute and starts each plugin task that is due. */
export function addPluginTasks(nuxt: Nuxt, resolve: (path: string) => string): void {
  const nitro = nuxt.options.nitro as TaskOptions
  nitro.tasks = {
    ...nitro.tasks,
    [PLUGINS]: { handler: resolve('./runtime/server/tasks/plugins'), description: 'Run the tasks of plugins that are due' },
  }
  nitro.scheduledTasks = { ...nitro.scheduledTasks, [EVERY_MINUTE]: [nitro.scheduledTasks?.[EVERY_MINUTE] ?? [], PLUGINS].flat() }
}
