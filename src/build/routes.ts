/** Mounts the generated routes, one static path per resource, and gives way to the app's own. */
import { addServerHandler } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { assertNoProblems } from './problem'
import { findCachedPaths, type RouteRules } from './route-rules'
import { PATHS, ROUTES, toRouteKey, toShape, type Route } from '../runtime/shared/routes'

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
  /** Ours answer every method of their path, if only with a 405. */
  method?: undefined
}

/**
 * Every handler of every resource, one per path, and those of the whole API.
 * @param locate the file that answers, from its name in `server/routes`
 */
export function toHandlers(names: readonly string[], prefix: string, locate: (file: string) => string): MountedHandler[] {
  const answers = Object.entries(PATHS).map(([path, file]) => ({ path, handler: locate(file) }))
  const ofResources = answers.filter(({ path }) => path.startsWith('/:resource'))
  const global = answers.filter(({ path }) => !path.startsWith('/:resource'))
  return [...names.flatMap(name => ofResources.map(answer => ({ ...answer, path: answer.path.replace(':resource', name) }))), ...global]
    .map(({ path, handler }) => ({ route: prefix + path, lazy: true, handler }))
}

/** The routes that a file of `server/routes` answers. */
export const ROUTES_OF: ReadonlyMap<string, readonly Route[]> = new Map(
  Object.entries(PATHS).map(([path, file]) => [file, ROUTES.filter(route => route.path === path)]),
)

const routesOf = ({ handler }: Handler) => ROUTES_OF.get(handler.slice(handler.lastIndexOf('/') + 1)) ?? []

/**
 * What remains of our handlers beside the app's. A method that the app answers itself is the app's in Nitro's router:
 * ours is mounted for all that are left. Where the app answers the whole path, or every method of ours, ours is left out
 * (Nitro lets the handler mounted last win, and what is not allowed there is the app's to say). Parameter names are no difference.
 */
export function withoutAppRoutes(ours: readonly MountedHandler[], others: readonly Handler[]): MountedHandler[] {
  const taken = new Set<string>()
  const parameters = new Map<string, string>()
  for (const { route, method, middleware } of others) {
    if (!route || middleware) continue
    taken.add(toRouteKey(route, method))
    for (const [shape, parameter] of parametersOf(route)) if (!parameters.has(shape)) parameters.set(shape, parameter)
  }
  return ours
    .filter(
      handler =>
        !taken.has(toRouteKey(handler.route)) && !routesOf(handler).every(({ method }) => taken.has(toRouteKey(handler.route, method))),
    )
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
 * Nitro 2 keeps differently named parameters of one place apart and then looks into one of them only: beside the app's
 * `posts/[slug]/comments`, a `posts/:id` of ours would hide comments. So we take over the app's name; the routes read
 * their id by its place.
 */
function withParametersOf(route: string, parameters: ReadonlyMap<string, string>): string {
  const segments = route.split('/')
  return segments.map((segment, index) => parameters.get(toShape(segments.slice(0, index + 1).join('/'))) ?? segment).join('/')
}

/** The part of Nitro, old or new, that holds what is mounted. */
interface Nitro {
  options: { dev?: boolean, preset?: string, handlers: Handler[], routeRules?: RouteRules }
  /** The app's own files, layers included. */
  scannedHandlers: Handler[]
  hooks: { hook: (name: string, listener: (...args: never[]) => void) => unknown }
  /** Nitro 3 compiles the handlers into a router. */
  routing?: { sync?: () => void }
}

export interface MountedRoutes {
  /** What the app answers itself below the prefix, by key without the prefix; complete once its files were looked for. */
  readonly appRoutes: () => readonly string[]
}

/**
 * Mounts the routes of every resource, and gives way as often as Nitro scans the app's files: dev server and prerendering included.
 * @param ofPlugins paths of plugins below the prefix, as far as the build knows them
 */
export function mountRoutes(
  nuxt: Nuxt, names: readonly string[], prefix: string, resolve: (path: string) => string, ofPlugins: readonly string[] = [],
): MountedRoutes {
  const ours = toHandlers(names, prefix, file => resolve(`./runtime/server/routes/${file}`))
  const files = new Set(ours.map(({ handler }) => handler))
  const plugins = ofPlugins.flatMap(path => /^\/:resource(?:\/|$)/.test(path) ? names.map(name => path.replace(':resource', name)) : [path])
  let others: readonly Handler[] = []
  let answered: readonly string[] = []
  for (const handler of ours) addServerHandler(handler)

  function giveWay(nitro: Nitro) {
    const conditions = new Set([
      nitro.options.dev ? 'dev' : 'prod',
      nitro.options.preset,
      nitro.options.preset === 'nitro-prerender' ? 'prerender' : undefined,
    ])
    const applies = ({ env }: Handler) => !env?.length || [env].flat().some(condition => conditions.has(condition))

    const mounted = nitro.options.handlers.filter(({ handler }) => !files.has(handler))
    others = [...nitro.scannedHandlers, ...mounted].filter(applies)
    const left = withoutAppRoutes(ours, others)
    // In place: Nuxt and other modules may hold on to the list.
    nitro.options.handlers.splice(0, Infinity, ...mounted, ...left)
    const own = new Set(others.flatMap(({ route, method, middleware }) => route && !middleware ? [toRouteKey(route, method)] : []))
    const isOwn = (path: string) => own.has(toRouteKey(path)) || own.has(toRouteKey(path, 'GET'))
    answered = [...left.map(({ route }) => route), ...plugins.map(path => prefix + path)].filter(path => !isOwn(path))
    nitro.routing?.sync?.()
  }

  /**
   * Nitro compares every import with the file of every mounted handler to see what it bundles. Ours are bundled by their
   * folder: thousands of them would only make each comparison longer, by a second and more where there are 200 resources.
   */
  function standAside({ options }: Nitro) {
    options.handlers.splice(0, Infinity, ...options.handlers.filter(({ handler }) => !files.has(handler)))
  }

  /** @throws AutoApiBuildError when a route rule would cache a path of ours. A path whose GET is the app's own may be cached. */
  function assertUncached({ options }: Nitro) {
    assertNoProblems(findCachedPaths(options.routeRules ?? {}, answered, prefix))
  }

  function watch(nitro: Nitro) {
    giveWay(nitro)
    assertUncached(nitro)
    nitro.hooks.hook('prerender:init', watch)
    nitro.hooks.hook('build:before', () => standAside(nitro))
    // The dev server scans again whenever a file comes or goes, and bundles again right after.
    nitro.hooks.hook('rollup:before', (_nitro: Nitro, config: { plugins: unknown[] }) => {
      giveWay(nitro)
      // Once more: modules may add rules, and pages bring their own, until Nitro bundles.
      assertUncached(nitro)
      config.plugins.unshift({ name: 'nuxt-auto-api:routes', buildStart: () => giveWay(nitro) })
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
