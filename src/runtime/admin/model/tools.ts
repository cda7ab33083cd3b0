/** The views without a resource: those of plugins, and that of the permissions. */
import type { AdminTool } from '../../shared/types/admin'
import { useMessages } from './messages'
import { views } from './nuxt'

/** The tools with a view, in the order of the navigation, and their icons. */
export const TOOL_ICONS: ReadonlyMap<AdminTool, string> = new Map([
  ...views.map(({ name, icon = 'i-lucide-app-window' }) => [name, icon] as const),
  ['permissions', 'i-lucide-shield-check'],
])

/** Returns the tools that the caller can use and that have a view, in the order of the navigation. */
export const toTools = (allowed: readonly AdminTool[]): AdminTool[] => [...TOOL_ICONS.keys()].filter(name => allowed.includes(name))

/** The features that views replace. The navigation leaves out the resources that have one of them. */
export const REPLACED: readonly string[] = views.flatMap(({ replaces }) => replaces ?? [])

const LABELS = Object.fromEntries(views.map(({ name, label }) => [name, label]))

/** Returns the text of a tool. */
export const useToolLabels = (): (name: AdminTool) => string => useMessages(LABELS)
