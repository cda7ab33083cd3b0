/** Mounts the generated routes, with separate paths for each resource. The app's own routes take precedence. */
import { existsSync, readFileSync } from 'node:fs'
import { addServerHandler } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { isAbsolute } from 'pathe'
import { PATHS, ROUTES, toRouteKey, toShape, type Route } from '../runtime/shared/routes'
import { assertNoProblems } from './problem'
import { findCachedPaths, type RouteRules } from './route-rules'

/** The properties of a Nitro handler that decide which requests it handles. */
export interface Handler {
  route?: string
  method?: string
  /** The environments in which the handler exists: `dev`, `prod` or the name of a preset. One match is enough. */
  env?: string | string[]
  middleware?: boolean
  lazy?: boolean
  handler: string
}

interface MountedHandler extends Handler {
  route: string
  /** A handler of the module handles every method of its path. It responds with 405 to the methods without a route. */
  method?: undefined
}

/** The properties of Nitro 2 and Nitro 3 that contain the mounted handlers. */
interface Nitro {
  options: { dev?: boolean, preset?: string, handlers: Handler[], routeRules?: RouteRules }
  /** The handlers that Nitro finds in the files of the app and of its layers. */
  scannedHandlers: Handler[]
  hooks: { hook: (name: string, listener: (...args: never[]) => void) => unknown }
  /** Nitro 3 compiles the handlers into a router. */
  routing?: { sync?: () => void }
}

export interface MountedRoutes {
  /** Returns route keys, without the prefix, of the app's own routes below the prefix. The list is complete after Nitro's scan. */
  readonly appRoutes: () => readonly string[]
  /** Returns the app's own handlers that are endpoints of the API, with their routes. The list is complete after Nitro's scan. */
  readonly endpoints: () => readonly (Handler & { readonly route: string })[]
}

/**
 * Mounts the routes of every resource, except those that the app handles itself. The function updates the list each time Nitro scans the
 * app's files, also in the dev server and before prerendering.
 * @param pluginPaths paths below the prefix that plugins handle. The build does not know the paths of plugins from files.
 */
export function mountRoutes(
  nuxt: Nuxt, names: readonly string[], prefix: string, resolve: (path: string) => string, pluginPaths: readonly string[] = [],
): MountedRoutes {
  const own = toHandlers(names, prefix, file => resolve(`./runtime/server/routes/${file}`))
  const ownFiles = new Set(own.map(({ handler }) => handler))
  const paths = pluginPaths.flatMap(path => /^\/:resource(?:\/|$)/.test(path) ? names.map(name => path.replace(':resource', name)) : [path])
  let others: readonly Handler[] = []
  let handledPaths: readonly string[] = []
  for (const handler of own) addServerHandler(handler)

  function updateHandlers(nitro: Nitro) {
    const mounted = nitro.options.handlers.filter(({ handler }) => !ownFiles.has(handler))
    others = [...nitro.scannedHandlers, ...mounted].filter(createEnvFilter(nitro))
    const remaining = withoutAppRoutes(own, others)
    // This changes the list in place, because Nuxt and other modules can have a reference to it.
    nitro.options.handlers.splice(0, Infinity, ...mounted, ...remaining)
    const otherKeys = new Set(others.flatMap(({ route, method, middleware }) => route && !middleware ? [toRouteKey(route, method)] : []))
    const isHandledByApp = (path: string) => otherKeys.has(toRouteKey(path)) || otherKeys.has(toRouteKey(path, 'GET'))
    handledPaths = [...remaining.map(({ route }) => route), ...paths.map(path => prefix + path)].filter(path => !isHandledByApp(path))
    nitro.routing?.sync?.()
  }

  /**
   * Removes the module's handlers before the build. To decide which files to bundle, Nitro compares every import with the file of every
   * mounted handler. The module's handlers do not need this, because Nitro bundles their whole folder. With 200 resources, thousands of
   * handlers would slow the build down by more than a second.
   */
  function removeOwnHandlers({ options }: Nitro) {
    options.handlers.splice(0, Infinity, ...options.handlers.filter(({ handler }) => !ownFiles.has(handler)))
  }

  /**
   * Ignores paths whose GET requests the app handles itself, because the app can cache its own responses.
   * @throws AutoApiBuildError if a route rule would cache a path of the API
   */
  function assertUncached({ options }: Nitro) {
    assertNoProblems(findCachedPaths(options.routeRules ?? {}, handledPaths, prefix))
  }

  function watch(nitro: Nitro) {
    updateHandlers(nitro)
    assertUncached(nitro)
    nitro.hooks.hook('prerender:init', watch)
    nitro.hooks.hook('build:before', () => removeOwnHandlers(nitro))
    // In development, Nitro scans again after a file is added or removed, and then bundles.
    nitro.hooks.hook('rollup:before', (_nitro: Nitro, config: { plugins: unknown[] }) => {
      updateHandlers(nitro)
      // Modules and pages can add route rules until Nitro bundles, so the check runs again.
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
    endpoints: () =>
      others.flatMap(({ route, ...handler }) =>
        route && !route.includes('**') && !handler.middleware && isEndpoint(handler.handler) ? [{ ...handler, route }] : [],
      ),
  }
}

/** Whether a file of the app creates an endpoint of the API. Handlers of other modules can be names that only the bundler resolves. */
const isEndpoint = (file: string) => isAbsolute(file) && existsSync(file) && readFileSync(file, 'utf8').includes('createEndpoint')

/** Creates a filter that accepts the handlers whose `env` matches the current build. */
function createEnvFilter({ options: { dev, preset } }: Nitro): (handler: Handler) => boolean {
  const conditions = new Set([dev ? 'dev' : 'prod', preset, preset === 'nitro-prerender' ? 'prerender' : undefined])
  return ({ env }) => !env?.length || [env].flat().some(condition => conditions.has(condition))
}

/**
 * Returns one handler per path: the paths of every resource, then the paths that belong to no resource.
 * @param toFile returns the file of a handler from its name in `server/routes`
 */
export function toHandlers(names: readonly string[], prefix: string, toFile: (name: string) => string): MountedHandler[] {
  const handlers = Object.entries(PATHS).map(([path, name]) => ({ path, handler: toFile(name) }))
  const ofResources = handlers.filter(({ path }) => path.startsWith('/:resource'))
  const global = handlers.filter(({ path }) => !path.startsWith('/:resource'))
  return [...names.flatMap(name => ofResources.map(({ path, handler }) => ({ path: path.replace(':resource', name), handler }))), ...global]
    .map(({ path, handler }) => ({ route: prefix + path, lazy: true, handler }))
}

/** Maps each file of `server/routes` to the routes that it handles. */
export const ROUTES_OF: ReadonlyMap<string, readonly Route[]> = new Map(
  Object.entries(PATHS).map(([path, file]) => [file, ROUTES.filter(route => route.path === path)]),
)

const routesOf = ({ handler }: Handler) => ROUTES_OF.get(handler.slice(handler.lastIndexOf('/') + 1)) ?? []

/**
 * Returns the module's handlers that the app does not replace. If the app handles only some methods of a path, the module's handler stays
 * mounted and gets the other methods, because Nitro's router prefers a handler for one method. If the app handles the whole path or every
 * method of it, the module's handler is removed, because Nitro would prefer the handler that is mounted last. The app then decides about
 * the 405 response of that path. The comparison ignores the names of parameters.
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

/** Returns each parameter of a route, with the shape of the path up to and including the parameter. */
function parametersOf(route: string): [shape: string, parameter: string][] {
  const segments = route.split('/')
  return segments.flatMap((segment, index) => {
    const shape = toShape(segments.slice(0, index + 1).join('/'))
    return shape.endsWith('/:') ? [[shape, segment]] : []
  })
}

/**
 * Replaces the parameter names of a route by the names that the app uses at the same position. If two names differ, Nitro 2 creates two
 * branches and searches only one of them: the module's `posts/:id` would hide the app's `posts/[slug]/comments`. Other names are safe,
 * because the module's handlers read their parameters by position.
 */
function withParametersOf(route: string, parameters: ReadonlyMap<string, string>): string {
  const segments = route.split('/')
  return segments.map((segment, index) => parameters.get(toShape(segments.slice(0, index + 1).join('/'))) ?? segment).join('/')
}
