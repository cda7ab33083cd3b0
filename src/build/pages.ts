/** Finds the pages that the app can have below the prefix. The API leaves their paths to Nuxt, and refuses every other unknown path. */
import type { Nuxt, NuxtPage } from 'nuxt/schema'

/** A page, as Nuxt describes it. Modules can add pages with more than one path. */
type Page = Pick<NuxtPage, 'path'> & { readonly alias?: string | readonly string[], readonly children?: readonly Page[] }

/** What can match any path. */
const EVERYTHING: readonly string[] = ['/*']

/**
 * Returns a function for the time when the server is bundled: Nuxt and other modules have added their pages by then. In development, Nuxt
 * restarts when its result changes.
 */
export function watchPages(nuxt: Nuxt, prefix: string): () => readonly string[] {
  let hasRouterOptions = false
  nuxt.hook('pages:routerOptions', ({ files }) => {
    // Such a file can add pages that the build does not know.
    hasRouterOptions = files.some(({ optional }) => !optional)
  })
  const find = () => {
    const { pages } = nuxt.options as { pages?: boolean | { readonly enabled?: boolean } }
    if (pages === false || (typeof pages === 'object' && pages.enabled === false)) return []
    const known = nuxt.apps.default?.pages
    return hasRouterOptions || !known ? EVERYTHING : findPagesBelow(known, prefix)
  }
  let bundled: string | undefined
  nuxt.hook('app:templatesGenerated', () => {
    if (nuxt.options.dev && bundled !== undefined && find().join() !== bundled) void nuxt.callHook('restart')
  })
  return () => {
    const found = find()
    bundled = found.join()
    return found
  }
}

/**
 * Returns the paths of pages that can be below the prefix, in lower case. Vue Router ignores the case too. `/*` at the end stands for
 * everything from the first parameter on, because a parameter can be optional and contain slashes.
 */
export function findPagesBelow(pages: readonly Page[], prefix: string): string[] {
  const paths = pathsOf(pages).map(withoutParameters)
  const below = `${prefix.toLowerCase()}/`
  return [...new Set(paths)]
    .filter(path => path.startsWith(below) || (path.endsWith('/*') && below.startsWith(path.slice(0, -1))))
    .sort()
}

function withoutParameters(path: string): string {
  const first = path.search(/[:(*+?]/)
  return (first === -1 ? path : `${path.slice(0, path.lastIndexOf('/', first))}/*`).toLowerCase()
}

function pathsOf(pages: readonly Page[], parent = ''): string[] {
  return pages.flatMap(({ path, alias = [], children = [] }) => [path, ...[alias].flat()].flatMap((own) => {
    const full = own.startsWith('/') ? own : `${parent.replace(/\/$/, '')}/${own}`
    return [full, ...pathsOf(children, full)]
  }))
}
