/** The module's Nitro tasks, and when they run unless the app says otherwise. */
import type { Nuxt } from 'nuxt/schema'

const TRASH = 'auto-api:trash'
/** Once a day, in the small hours, off the full hour. */
const DAILY = '17 3 * * *'

interface TaskOptions {
  experimental?: { tasks?: boolean }
  tasks?: Record<string, { handler: string, description: string }>
  scheduledTasks?: Record<string, string | string[]>
}

/** Registers `auto-api:trash`; where the app has scheduled it itself, its schedule stands. */
export function addTasks(nuxt: Nuxt, resolve: (path: string) => string): void {
  const nitro = nuxt.options.nitro as TaskOptions
  nitro.experimental = { ...nitro.experimental, tasks: true }
  nitro.tasks = {
    ...nitro.tasks,
    [TRASH]: {
      handler: resolve('./runtime/server/tasks/trash'),
      description: 'Purge what has been in the trash for longer than retentionDays',
    },
  }
  const scheduled = Object.values(nitro.scheduledTasks ?? {}).flat()
  if (!scheduled.includes(TRASH))
    nitro.scheduledTasks = { ...nitro.scheduledTasks, [DAILY]: [nitro.scheduledTasks?.[DAILY] ?? [], TRASH].flat() }
}

const PLUGINS = 'auto-api:plugins'
const EVERY_MINUTE = '* * * * *'

/** Registers `auto-api:plugins`, which looks every minute whose turn it is. */
export function addPluginTasks(nuxt: Nuxt, resolve: (path: string) => string): void {
  const nitro = nuxt.options.nitro as TaskOptions
  nitro.tasks = {
    ...nitro.tasks,
    [PLUGINS]: { handler: resolve('./runtime/server/tasks/plugins'), description: 'Run the tasks of plugins that are due' },
  }
  nitro.scheduledTasks = { ...nitro.scheduledTasks, [EVERY_MINUTE]: [nitro.scheduledTasks?.[EVERY_MINUTE] ?? [], PLUGINS].flat() }
}
