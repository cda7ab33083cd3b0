/** The plugin contract: what a plugin may bring, and how a factory says where the server finds it. Loads nothing else. */
import type { Method } from '../../shared/routes'
import type { Operation } from '../../shared/operations'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ContextExtender } from '../core/extensions'
import type { Around, CallerListener, RequestListener } from '../core/listeners'
import type { CommitListener } from '../core/changes'
import type { RouteSteps } from '../core/pipeline'
import type { Plan } from '../core/access/row-scope'
import type { AutoApiContext, AutoApiPlatform, ResourceHooks } from '../registration'
import type { FindStorage } from './storage'

type PlatformNuxt = AutoApiPlatform extends { nuxt: infer Nuxt } ? Nuxt : unknown

interface RoutePath {
  readonly method: Method
  /**
   * Below the prefix. `/:resource` at its beginning stands for each resource of `resources`; an `:id` after it is a
   * record's. The app's own file routes win over it, and it wins over nothing that the API answers itself.
   */
  readonly path: string
  /**
   * For which resources a path that begins with `/:resource` is answered.
   * @default every registered one
   */
  readonly resources?: readonly string[]
}

/** A route as an endpoint: the gate of the resource first, then the tenant, then the handler. */
export interface PluginEndpoint extends RoutePath {
  /** What the handler does with the resource; required for a path that begins with `/:resource`, without effect on others, which authorize nothing. */
  readonly operation?: Operation
  readonly body?: StandardSchemaV1
  readonly query?: StandardSchemaV1
  /** Answers the payload as it is; `undefined` is a 204. Rows are read with `findAuthorizedRow` and `rowScope`. */
  readonly handler: (ctx: AutoApiContext) => unknown
}

/** A route of the pipeline's own steps, for a path that begins with `/:resource`. */
export interface PluginPipelineRoute extends RoutePath {
  readonly steps: RouteSteps<never, Plan & never, never>
}

export type PluginRoute = PluginEndpoint | PluginPipelineRoute

/** Work that comes round by itself. */
export interface PluginTask {
  /** Minutes between two runs. */
  readonly every: number
  readonly run: () => unknown
}

/** What `setup` gets from the server. */
export interface PluginServer {
  readonly findStorage: FindStorage
}

export interface AutoApiPlugin {
  /** Tells plugins apart: of two with one name the one listed last is used. */
  readonly name: string
  /** Once, when the server starts, for the plugin that is used; no request is answered before it is done, and what it throws stops the server. */
  readonly setup?: (server: PluginServer) => unknown
  /** Before the caller is known: cheap refusals. What it throws is answered. */
  readonly onRequest?: RequestListener
  /** Adds to the context of every request, before its permissions are asked about. */
  readonly extendContext?: ContextExtender
  /** Once every context extender has run and before the gate: refusals that depend on who asks. What it throws is answered. */
  readonly onCaller?: CallerListener
  /** Around what comes after the gate, on every generated route of a resource: may answer in its place. */
  readonly around?: Around
  /** By resource; `'*'` for all of them. */
  readonly hooks?: Readonly<Record<string, ResourceHooks>>
  /** Once per commit, with every row it changed. What it throws is logged: the commit stands. */
  readonly onCommit?: CommitListener
  readonly routes?: readonly PluginRoute[]
  /** By name. */
  readonly tasks?: Readonly<Record<string, PluginTask>>
  /** In the Nuxt config's process, while the app is built. Only for plugins listed in `nuxt.config`: a file is loaded by the server alone. */
  readonly buildSetup?: (nuxt: PlatformNuxt) => unknown
}

/** Where the server finds the factory that made a plugin, and what it was given. */
export interface PluginSource {
  /** A package's entry, or an absolute path. */
  readonly from: string
  /** The export's name. */
  readonly name: string
  readonly options: readonly unknown[]
}

/** An entry of the list of plugins. */
export interface ListedPlugin {
  /** Where it is listed, for messages. */
  readonly where: string
  /** What the list holds there: a plugin, several, or a function that makes them. */
  readonly listed: () => unknown
}

/**
 * Under a name and in a function: Nuxt copies its config before modules see it, by names only, and would copy the options
 * along, instances to plain objects. What a function answers stays as it is.
 */
export interface MadeByFactory {
  readonly __recipe: () => PluginSource
}

/**
 * A plugin, or a factory that may be called in `nuxt.config`: the server calls it again with the same options, so they
 * have to be plain data there. In a file that the config lists anything goes.
 * @example
 * export default defineAutoApiPlugin({
 *   name: 'tell',
 *   onCommit: changes => console.log(changes),
 * })
 * @example
 * export const tell = defineAutoApiPlugin({ from: 'my-plugins', name: 'tell' }, (options: { prefix: string }) => ({
 *   name: 'tell',
 *   onCommit: changes => console.log(options.prefix, changes),
 * }))
 */
export function defineAutoApiPlugin(plugin: AutoApiPlugin): AutoApiPlugin
export function defineAutoApiPlugin<Options extends readonly unknown[]>(
  place: Omit<PluginSource, 'options'>,
  create: (...options: Options) => AutoApiPlugin,
): (...options: Options) => AutoApiPlugin
export function defineAutoApiPlugin<Options extends readonly unknown[]>(
  first: AutoApiPlugin | Omit<PluginSource, 'options'>,
  create?: (...options: Options) => AutoApiPlugin,
): AutoApiPlugin | ((...options: Options) => AutoApiPlugin) {
  if (!create) return first as AutoApiPlugin
  return (...options) =>
    ({ ...create(...options), __recipe: () => ({ ...(first as Omit<PluginSource, 'options'>), options }) }) satisfies AutoApiPlugin
    & MadeByFactory
}
