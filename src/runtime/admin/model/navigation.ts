/** The entries of the navigation and of the command palette. */
import type { AdminAccess, AdminResource, AdminTool } from '../../shared/types/admin'
import type { Translate } from './messages'
import { REPLACED, TOOL_ICONS } from './tools'

export interface NavEntry { readonly label: string, readonly to: string, readonly icon: string }

export interface NavGroup { readonly id: string, readonly label?: string, readonly entries: readonly NavEntry[] }

type View
  = | { readonly name: 'overview' }
    | { readonly name: 'tool', readonly tool: AdminTool }
    | { readonly name: 'list', readonly resource: string }
    | { readonly name: 'page', readonly path: string }

/** Returns the resources that are not hidden. Those that a view of a plugin shows are hidden. */
export function listedResources(resources: AdminAccess['resources']): [string, AdminAccess['resources'][string]][] {
  return Object.entries(resources).filter(([, { hidden, features }]) => !(hidden ?? REPLACED.some(name => Object.hasOwn(features, name))))
}

/** The text of a button or a page that creates a record, beside the name of the resource. */
export const newLabel = ({ singular }: Pick<AdminResource, 'singular'>, t: Translate): string =>
  t('list.new', { label: singular ?? t('record') })

/** The word for one record of a resource, as in `updated comment`. */
export function recordWord(name: string, { resources }: Pick<AdminAccess, 'resources'>): string {
  const { singular, label = name } = Object.hasOwn(resources, name) ? resources[name]! : {}
  return singular ?? label
}

/** The same text without the name of the resource beside it. */
export const newLabelOf = (resource: Pick<AdminResource, 'singular' | 'label'>, t: Translate): string =>
  resource.singular === undefined ? `${newLabel(resource, t)}: ${resource.label}` : newLabel(resource, t)

export function toNavigation(
  { resources, pages }: AdminAccess, tools: readonly AdminTool[], to: (view: View) => string, t: Translate,
  toolLabel: (name: AdminTool) => string,
): NavGroup[] {
  return [
    { id: 'overview', entries: [{ label: t('overview'), to: to({ name: 'overview' }), icon: 'i-lucide-layout-dashboard' }] },
    {
      id: 'resources', label: t('resources'),
      entries: listedResources(resources).map(([resource, { label, icon = 'i-lucide-table-2' }]) =>
        ({ label, icon, to: to({ name: 'list', resource }) })),
    },
    {
      id: 'pages', label: t('pages'),
      entries: pages.map(({ path, label, icon = 'i-lucide-app-window' }) => ({ label, icon, to: to({ name: 'page', path }) })),
    },
    {
      id: 'tools', label: t('tools'),
      entries: tools.map(tool => ({ label: toolLabel(tool), icon: TOOL_ICONS.get(tool)!, to: to({ name: 'tool', tool }) })),
    },
  ].filter(({ entries }) => entries.length > 0)
}
