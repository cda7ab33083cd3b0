/** Mounts the generated routes, one static path per resource; the app's own routes take precedence. */
import { addServerHandler } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { PATHS, ROUTES, toRouteKey, toShape, type Route } from '../runtime/shared/routes'
import { assertNoProblems } from './problem'
import { findCachedPaths, type RouteRules } from './route-rules'

/** The part of a Nitro handler that decides which requests it gets. */
export interface Handler {
  route?: string
  method?: string
  /** Conditions of which one must hold: `dev`, `prod`, a preset. */
  env?: string | string[]
  middleware?: boolean
  lazy?: boolean
  handler: string
}

interface MountedHandler extends Handler {
  route: string
  /** A handler of the module answers every method of its path: 405 for those it does not have. */
  method?: undefined
}

/** The part of Nitro, old or new, that holds the mounted handlers. */
interface Nitro {
  options: { dev?: boolean, preset?: string, handlers: Handler[], routeRules?: RouteRules }
  /** The handlers found in the app's files, layers included. */
  scannedHandlers: Handler[]
  hooks: { hook: (name: string, listener: (...args: never[]) => void) => unknown }
  /** Nitro 3 compiles the handlers into a router. */
  routing?: { sync?: () => void }
}

export interface MountedRoutes {
  /** The app's own routes below the prefix, as keys without the prefix; complete once Nitro has scanned the app's files. */
  readonly appRoutes: () => readonly string[]
}

/**
 * Mounts the routes of every resource. Each time Nitro scans the app's files (dev server and prerendering included), the handlers that
 * the app has itself are left out.
 * @param pluginPaths paths of plugins below the prefix, as far as the build knows them
 */
export function mountRoutes(
  nuxt: Nuxt, names: readonly string[], prefix: string, resolve: (path: string) => string, pluginPaths: readonly string[] = [],
): MountedRoutes {
  const own = toHandlers(names, prefix, file => resolve(`./runtime/server/routes/${file}`))
  const ownFiles = new Set(own.map(({ handler }) => handler))
  const paths = pluginPaths.flatMap(path => /^\/:resource(?:\/|$)/.test(path) ? names.map(name => path.replace(':resource', name)) : [path])
  let others: readonly Handler[] = []
  let answeredPaths: readonly string[] = []
  for (const handler of own) addServerHandler(handler)

  function updateHandlers(nitro: Nitro) {
    const mounted = nitro.options.handlers.filter(({ handler }) => !ownFiles.has(handler))
    others = [...nitro.scannedHandlers, ...mounted].filter(createEnvFilter(nitro))
    const remaining = withoutAppRoutes(own, others)
    // In place, because Nuxt and other modules may keep a reference to the list.
    nitro.options.handlers.splice(0, Infinity, ...mounted, ...remaining)
    const otherKeys = new Set(others.flatMap(({ route, method, middleware }) => route && !middleware ? [toRouteKey(route, method)] : []))
    const isAnsweredByApp = (path: string) => otherKeys.has(toRouteKey(path)) || otherKeys.has(toRouteKey(path, 'GET'))
    answeredPaths = [...remaining.map(({ route }) => route), ...paths.map(path => prefix + path)].filter(path => !isAnsweredByApp(path))
    nitro.routing?.sync?.()
  }

  /**
   * Nitro compares every import with the file of every mounted handler to decide what it bundles. The module's handlers are bundled
   * by their folder, and thousands of them would slow down each comparison: by a second and more with 200 resources.
   */
  function removeOwnHandlers({ options }: Nitro) {
    options.handlers.splice(0, Infinity, ...options.handlers.filter(({ handler }) => !ownFiles.has(handler)))
  }

  /** @throws AutoApiBuildError when a route rule would cache a path of the API. A path whose GET is the app's own can be cached. */
  function assertUncached({ options }: Nitro) {
    assertNoProblems(findCachedPaths(options.routeRules ?? {}, answeredPaths, prefix))
  }

  function watch(nitro: Nitro) {
    updateHandlers(nitro)
    assertUncached(nitro)
    nitro.hooks.hook('prerender:init', watch)
    nitro.hooks.hook('build:before', () => removeOwnHandlers(nitro))
    // The dev server scans again whenever a file is added or removed, and bundles right after.
    nitro.hooks.hook('rollup:before', (_nitro: Nitro, config: { plugins: unknown[] }) => {
      updateHandlers(nitro)
      // Again, because modules and pages can add route rules until Nitro bundles.
      assertUncached(nitro)
      config.plugins.unshift({ name: 'nuxt-auto-api:routes', buildStart: () => updateHandlers(nitro) })
    })
  }

  nuxt.hook('nitro:init', nitro => watch(nitro as unknown as Nitro))
  return {
    appRoutes: () =>
      others.flatMap(({ route, method, middleware }) =>
        route?.startsWith(`${prefix}/`) && !middleware && !route.includes('**') ? [toRouteKey(route.slice(prefix.length), method)] : [],
      ),
  }
}

/** Whether a handler exists under the conditions of this build. */
function createEnvFilter({ options: { dev, preset } }: Nitro): (handler: Handler) => boolean {
  const conditions = new Set([dev ? 'dev' : 'prod', preset, preset === 'nitro-prerender' ? 'prerender' : undefined])
  return ({ env }) => !env?.length || [env].flat().some(condition => conditions.has(condition))
}

/**
 * The handlers of every resource, one per path, and those of the whole API.
 * @param toFile returns the file of a handler from its name in `server/routes`
 */
export function toHandlers(names: readonly string[], prefix: string, toFile: (name: string) => string): MountedHandler[] {
  const handlers = Object.entries(PATHS).map(([path, name]) => ({ path, handler: toFile(name) }))
  const ofResources = handlers.filter(({ path }) => path.startsWith('/:resource'))
  const global = handlers.filter(({ path }) => !path.startsWith('/:resource'))
  return [...names.flatMap(name => ofResources.map(({ path, handler }) => ({ path: path.replace(':resource', name), handler }))), ...global]
    .map(({ path, handler }) => ({ route: prefix + path, lazy: true, handler }))
}

/** The routes that a file of `server/routes` answers. */
export const ROUTES_OF: ReadonlyMap<string, readonly Route[]> = new Map(
  Object.entries(PATHS).map(([path, file]) => [file, ROUTES.filter(route => route.path === path)]),
)

const routesOf = ({ handler }: Handler) => ROUTES_OF.get(handler.slice(handler.lastIndexOf('/') + 1)) ?? []

/**
 * The module's handlers without those that the app replaces. Nitro's router prefers a handler for one method, so where the app has some
 * of the methods, the module's handler gets the others. Where the app handles the whole path or every method of it, the module's handler
 * is left out: Nitro would prefer the handler that is mounted last, and the 405 of that path is up to the app. Names of parameters make
 * no difference.
 */
export function withoutAppRoutes(own: readonly MountedHandler[], others: readonly Handler[]): MountedHandler[] {
  const appKeys = new Set<string>()
  const parameters = new Map<string, string>()
  for (const { route, method, middleware } of others) {
    if (!route || middleware) continue
    appKeys.add(toRouteKey(route, method))
    for (const [shape, parameter] of parametersOf(route)) if (!parameters.has(shape)) parameters.set(shape, parameter)
  }
  const isReplaced = (handler: MountedHandler) =>
    appKeys.has(toRouteKey(handler.route)) || routesOf(handler).every(({ method }) => appKeys.has(toRouteKey(handler.route, method)))
  return own
    .filter(handler => !isReplaced(handler))
    .map(handler => ({ ...handler, route: withParametersOf(handler.route, parameters) }))
}

/** Each parameter of a route with the shape of the path up to and including it. */
function parametersOf(route: string): [shape: string, parameter: string][] {
  const segments = route.split('/')
  return segments.flatMap((segment, index) => {
    const shape = toShape(segments.slice(0, index + 1).join('/'))
    return shape.endsWith('/:') ? [[shape, segment]] : []
  })
}

/**
 * Uses the app's names of parameters. Nitro 2 treats parameters of different names at one position as different branches and searches
 * only one of them: beside the app's `posts/[slug]/comments`, a `posts/:id` of the module would hide the comments. The module's handlers
 * read their parameters by position.
 */
function withParametersOf(route: string, parameters: ReadonlyMap<string, string>): string {
  const segments = route.split('/')
  return segments.map((segment, index) => parameters.get(toShape(segments.slice(0, index + 1).join('/'))) ?? segment).join('/')
}
