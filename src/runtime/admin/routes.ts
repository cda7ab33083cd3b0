/** The paths of the admin: converts a path to the view that it shows, and a view to its path. */

import type { AdminTool } from '../shared/types/admin'
import type { DescribedCapabilities } from '../shared/types/description'

/** What a page of the admin shows. */
export type AdminView
  = | { readonly name: 'overview' }
    | { readonly name: 'tool', readonly tool: AdminTool }
    | { readonly name: 'list' | 'create' | 'trash', readonly resource: string }
    | { readonly name: 'record', readonly resource: string, readonly id: string }
  /** A page of the app, at its own path such as `/reports`. */
    | { readonly name: 'page', readonly path: string }

/** The resources, pages and tools that exist for the caller. */
export interface Known {
  readonly resources: Readonly<Record<string, { readonly capabilities: Pick<DescribedCapabilities, 'canCreate' | 'canViewDeleted'> }>>
  readonly pages: readonly { readonly path: string }[]
  readonly tools: readonly AdminTool[]
}

/** The first segment of views without a resource. The name of a resource begins with a letter. */
const TOOLS = '-'

/** The last segment of `/<resource>/…` that is not the id of a record. */
const RESOURCE_VIEWS: Readonly<Record<string, readonly [name: 'create' | 'trash', requires: 'canCreate' | 'canViewDeleted']>> = {
  new: ['create', 'canCreate'],
  trash: ['trash', 'canViewDeleted'],
}
const SEGMENTS = { create: 'new', trash: 'trash' } as const

/** Begins the segment of an id that would have another meaning: `~new`. Browsers remove the segments `.` and `..` from a path. */
const ESCAPE = '~'
const needsEscape = (id: string) => Object.hasOwn(RESOURCE_VIEWS, id) || id.startsWith(ESCAPE) || /^\.{0,2}$/.test(id)

/**
 * Returns the view of a path, or `undefined` if the path has none.
 * @param segments the decoded segments below the prefix
 */
export function parseSegments(segments: readonly string[], { resources, pages, tools }: Known): AdminView | undefined {
  const parts = segments.at(-1) === '' ? segments.slice(0, -1) : segments
  const [first, second, ...rest] = parts
  if (first === undefined) return { name: 'overview' }
  if (Object.hasOwn(resources, first)) return rest.length > 0 ? undefined : parseResource(first, second, resources[first]!)
  if (first === TOOLS) {
    const tool = tools.find(tool => tool === second)
    return tool && rest.length === 0 ? { name: 'tool', tool } : undefined
  }
  const path = `/${parts.join('/')}`
  return pages.some(page => page.path === path) ? { name: 'page', path } : undefined
}

/**
 * Whether a path is written as the admin writes it, up to its first segment. Vue Router ignores the case of the prefix, and compares
 * decoded text. A middleware of the app that compares the path would not see the page of another spelling.
 * @param path that of the location
 * @param pattern that of the page: `/admin/:path(.*)*`
 * @param segments as for {@link parseSegments}
 */
export function isPlainPath(path: string, pattern: string, segments: readonly string[]): boolean {
  const [first] = segments
  const [prefix] = pattern.split('/:')
  return first ? [first, encodeURI(first)].some(text => `${path}/`.startsWith(`${prefix}/${text}/`)) : path.startsWith(prefix!)
}

function parseResource(
  resource: string, segment: string | undefined, { capabilities }: Known['resources'][string],
): AdminView | undefined {
  if (segment === undefined) return { name: 'list', resource }
  if (segment === '') return undefined
  if (Object.hasOwn(RESOURCE_VIEWS, segment)) {
    const [name, capability] = RESOURCE_VIEWS[segment]!
    return capabilities[capability] ? { name, resource } : undefined
  }
  return { name: 'record', resource, id: segment.startsWith(ESCAPE) ? segment.slice(ESCAPE.length) : segment }
}

/** Returns the path of a view below the prefix, encoded for a URL. */
export function toSegments(view: AdminView): string {
  switch (view.name) {
    case 'overview': return ''
    case 'page': return view.path
    case 'list': return `/${view.resource}`
    case 'create':
    case 'trash': return `/${view.resource}/${SEGMENTS[view.name]}`
    case 'record': return `/${view.resource}/${encodeURIComponent((needsEscape(view.id) ? ESCAPE : '') + view.id)}`
    case 'tool': return `/${TOOLS}/${view.tool}`
  }
}
