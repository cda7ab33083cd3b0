/** The entries of the navigation and of the command palette. */
import type { AdminAccess } from '../../../shared/types/admin'
import type { Tool } from './context'
import { featuresOf } from './features'
import type { Translate } from './messages'

export interface NavEntry { readonly label: string, readonly to: string, readonly icon: string }

export interface NavGroup { readonly id: string, readonly label?: string, readonly entries: readonly NavEntry[] }

type View
  = | { readonly name: 'overview' | Tool }
    | { readonly name: 'list', readonly resource: string }
    | { readonly name: 'page', readonly path: string }

const TOOL_ICONS: Readonly<Record<Tool, string>> = {
  activity: 'i-lucide-activity', audit: 'i-lucide-history', tokens: 'i-lucide-key-round', permissions: 'i-lucide-shield-check',
}

/** Returns the tools that the caller can use. */
export function toolsOf(access: AdminAccess): readonly Tool[] {
  const { tools } = access as AdminAccess & { readonly tools?: readonly Tool[] }
  const hasTokens = Object.values(access.resources).some(resource => featuresOf(resource).tokens)
  return tools ?? ['activity', 'audit', ...hasTokens ? ['tokens' as const] : [], 'permissions']
}

export function toNavigation(
  { resources, pages }: AdminAccess, tools: readonly Tool[], to: (view: View) => string, t: Translate,
): NavGroup[] {
  const shown = Object.entries(resources).filter(([, { hidden, ...resource }]) => !hidden && !featuresOf(resource).tokens)
  return [
    { id: 'overview', entries: [{ label: t('overview'), to: to({ name: 'overview' }), icon: 'i-lucide-layout-dashboard' }] },
    {
      id: 'resources', label: t('resources'),
      entries: shown.map(([resource, { label, icon = 'i-lucide-table-2' }]) => ({ label, icon, to: to({ name: 'list', resource }) })),
    },
    {
      id: 'pages', label: t('pages'),
      entries: pages.map(({ path, label, icon = 'i-lucide-app-window' }) => ({ label, icon, to: to({ name: 'page', path }) })),
    },
    { id: 'tools', label: t('tools'), entries: tools.map(name => ({ label: t(name), icon: TOOL_ICONS[name], to: to({ name }) })) },
  ].filter(({ entries }) => entries.length > 0)
}
