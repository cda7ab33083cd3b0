/** The plugin contract: the parts of a plugin, and how the server finds a plugin's factory. Importing this file loads nothing else. */
import type { Awaitable } from '../core/awaitable'
import type { Method } from '../../shared/routes'
import type { Operation } from '../../shared/operations'
import type { DescribedResource } from '../../shared/types/description'
import type { DescribeRoute } from '../../shared/types/openapi'
import type { ResourceRegistry } from '../../shared/types/registry'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { FindCredentialCaller } from '../core/extensions/credentials'
import type { ContextExtender } from '../core/extensions/extensions'
import type { ArrivalListener, Around, CallerListener, RequestListener, ResponseListener, Stopping } from '../core/extensions/listeners'
import type { CommitListener, CommitParticipant } from '../core/extensions/changes'
import type { Watcher } from '../core/extensions/watchers'
import type { RouteRequest } from '../core/request/route-request'
import type { RowCheck, RowFilter } from '../core/extensions/row-filters'
import type { AutoApiContext, AutoApiPlatform, ResourceHooks } from '../registration'
import type { FieldRules } from '../schema/model'
import type { PluginServer } from './server'

type PlatformNuxt = AutoApiPlatform extends { nuxt: infer Nuxt } ? Nuxt : unknown

/** A route of a plugin. On a path below `/:resource`, the API checks the resource's permission and the tenant before the handler. */
export interface PluginRoute {
  /**
   * The unique name of the route, for `around`.
   * @default `plugin: METHOD /path`
   */
  readonly name?: string
  readonly method: Method
  /**
   * The path below the prefix. If it begins with `/:resource`, the route exists for each resource of `resources`, and a parameter
   * `:id` is the id of a record. File routes of the app take precedence. A path that the API already has is an error. On any other
   * path, the first segment is a name that no resource can have.
   */
  readonly path: string
  /**
   * The resources of a path that begins with `/:resource`.
   * @default every registered one
   */
  readonly resources?: readonly string[]
  /**
   * The operation of the handler on the resource. Required for a path that begins with `/:resource`; other paths authorize nothing. Of
   * several operations, the caller needs the permission for one, and the handler checks those that it performs.
   */
  readonly operation?: Operation | readonly [Operation, ...Operation[]]
  /**
   * Whether the route has the parameters of a list, with the operation `read`. Then it also requires the permissions that these parameters
   * require: `includeDeleted` requires `viewDeleted`.
   * @default false
   */
  readonly listParameters?: boolean
  /**
   * Further operations that the request counts as, for limits by operation. Their permissions are not required.
   * @default []
   */
  readonly countsAs?: readonly Operation[]
  /**
   * A named gate of `authorization.custom`. If the resource has this gate and it declares `operation`, it decides instead of the permission
   * of the operation. Only for a path that begins with `/:resource`.
   */
  readonly gate?: string
  /**
   * The media types of the response. A GET route with `produces` can have a path that the API has already, such as `/:resource`: it answers
   * the requests whose `Accept` header prefers one of these types to JSON.
   */
  readonly produces?: readonly string[]
  /** Validates the body: JSON, or a form if `accepts` lists it. If it is absent, only `request.stream()` reads the body. */
  readonly body?: StandardSchemaV1
  /**
   * The media types of the body, such as `text/csv` or `image/*`. Other types are a 415.
   * @default ['application/json']
   */
  readonly accepts?: readonly string[]
  readonly query?: StandardSchemaV1
  /**
   * The parameters of the query string, for `http.strictParameters`. With `listParameters`, the route also has those of a list, and with
   * a write method `dryRun`.
   * @default those of the `query` schema; without one, every parameter is known
   */
  readonly parameters?: readonly string[]
  /**
   * Whether the handler supports dry runs. In one, `ctx.dryRun` is true, `atomicWrites(ctx, …)` rolls back, and the handler must not change
   * anything else. Without this option, a dry run is a 400 `DRY_RUN_UNSUPPORTED`, and the handler does not run.
   * @default false
   */
  readonly dryRun?: boolean
  /**
   * Whether a request with `Idempotency-Key` takes effect once, if the app has the plugin `idempotency`. With this plugin, a write of any
   * other route of a resource with this header is a 400. Only for a path that begins with `/:resource`.
   * @default false
   */
  readonly idempotent?: boolean
  /**
   * Describes the route for the OpenAPI document. A route of a resource is in the document of each caller who can use it. Any other route
   * is in a document only with a description.
   */
  readonly describe?: DescribeRoute
  /** Whether the document of a caller contains the route, besides its permission. It runs only for callers with the permission. */
  readonly documentedFor?: (ctx: AutoApiContext, resource: DescribedResource | undefined) => Awaitable<boolean>
  /**
   * Returns the response body. `undefined` responds with 204. An async iterable of strings and bytes is streamed. Read rows with
   * `findAuthorizedRow` and `rowScope`.
   */
  readonly handler: (ctx: AutoApiContext, request: RouteRequest) => unknown
}

/** One run of a task. */
export interface TaskRun {
  /** The time at which the task was due. */
  readonly due: Date
  /** The event of the Nitro task. Pass it to `getDatabase` if the database comes with the event, as on D1. */
  readonly event?: object
}

/** Work that runs at regular intervals. */
export interface PluginTask {
  /** Minutes between two due times. They are counted from midnight UTC of 1970-01-01: a task with `every: 1440` is due at midnight UTC. */
  readonly every: number
  /** Runs once for each due time, on one server if the schema exports a `taskRunsTable()`. An error is logged. */
  readonly run: (run: TaskRun) => unknown
}

export interface AutoApiPlugin {
  /** The unique name. If two plugins have the same name, the one that is listed last is used. */
  readonly name: string
  /**
   * Runs once, when the server starts, with the resources and the configuration. No request is handled before it is done, and an error
   * fails the start.
   */
  readonly setup?: (server: PluginServer) => unknown
  /**
   * Runs for every request below the prefix, before its route is known: also for paths and methods that do not exist, and for the app's
   * own routes there. It sets headers of the response. It is not asynchronous, and it cannot refuse the request.
   */
  readonly onArrival?: ArrivalListener
  /** Runs before the caller is known, for cheap refusals. An error becomes the response. */
  readonly onRequest?: RequestListener
  /**
   * Recognizes a credential of the request, such as a token in a header, and returns its caller. The first plugin that does not return
   * `undefined` decides. An error is a 401. The caller replaces that of the session, context extenders cannot change it, and the
   * cross-site rule does not apply to it.
   */
  readonly credentials?: FindCredentialCaller
  /**
   * Narrows the rows of a resource, for every route and every operation. The key `'*'` stands for all resources. The condition of `rows` is
   * added to the tenant, to `listFilter` and to the conditions of other plugins. References with `reference: 'tenant'` do not use it.
   */
  readonly rows?: Readonly<Record<string, RowFilter>>
  /**
   * Checks the rows of a resource in code after SQL has found them, as `objectLevel` does. The function receives the context and returns a
   * check, or `undefined` if the request needs none.
   */
  readonly rowChecks?: Readonly<Record<string, RowCheck>>
  /**
   * Rules for fields, by resource and field. They have the form of `fields` in a resource's authorization. A rule that the registration has
   * for the field replaces them.
   */
  readonly fieldRules?: Readonly<Record<string, FieldRules>>
  /** Operations that a resource refuses for every caller, as `disabled` of its registration does. */
  readonly disables?: Readonly<Record<string, readonly Operation[]>>
  /**
   * Resources whose rows the plugin changes by its own statements, so that no `onCommit` receives the changes. Plugins that store responses
   * do not store theirs.
   */
  readonly unreported?: readonly string[]
  /** Adds to the context of every request, before its permissions are checked. */
  readonly extendContext?: ContextExtender
  /** Runs after every context extender and before authorization, for refusals by caller. An error becomes the response. */
  readonly onCaller?: CallerListener
  /**
   * Wraps everything after authorization, on every generated route, every plugin route of a resource, and every endpoint with `idempotent`.
   * Can return its own response.
   */
  readonly around?: Around
  /**
   * Changes the response after every `around`, on the same routes. Plugins that store responses do not see the change, so a secret that is
   * sent only once belongs here. It does not run for errors.
   */
  readonly onResponse?: ResponseListener
  /** Hooks by resource. The key `'*'` stands for all resources. */
  readonly hooks?: Readonly<Record<string, ResourceHooks>>
  /** Runs once per commit, with every changed row. An error is logged and does not undo the commit. */
  readonly onCommit?: CommitListener
  /**
   * Runs once per commit, before it. Returns statements that run in the same commit, after the change. An error refuses the commit. If
   * other writes make the API repeat a commit, it asks again.
   */
  readonly inCommit?: CommitParticipant
  /** `images: true` gives `inCommit` the changed columns before and after the change. The API reads them only then. */
  readonly needs?: { readonly images: true }
  /** Follows rows while someone needs them: their values before and after each commit. It has no effect on D1. */
  readonly watch?: Watcher
  /** Runs when the server stops: before it waits for its connections, and when no request is left. */
  readonly onStop?: Stopping
  readonly routes?: readonly PluginRoute[]
  /** Tasks by name. They run at regular intervals. */
  readonly tasks?: Readonly<Record<string, PluginTask>>
  /**
   * Registers resources of the plugin while the app is built, after the hook `autoApi:registerSchema`. Only for plugins that `nuxt.config`
   * lists by value, not by file. Module imports among the options of a factory are still references here.
   */
  readonly resources?: (registry: ResourceRegistry) => unknown
  /** Runs while the app is built, in the process of the Nuxt config. Only for plugins that `nuxt.config` lists by value, not by file. */
  readonly buildSetup?: (nuxt: PlatformNuxt) => unknown
}

/** The module from which the server imports the factory of a plugin, and the factory's options. */
export interface PluginSource {
  /** A package's entry, or the path of a file: with an alias (`~~/server/outbox`) or absolute. */
  readonly from: string
  /** The export's name. */
  readonly name: string
  readonly options: readonly unknown[]
}

/** An entry of the list of plugins. */
export interface ListedPlugin {
  /** The option or file that lists the entry, for error messages. */
  readonly where: string
  /** Returns the entry: a plugin, several plugins, or a function that creates them. */
  readonly listed: () => unknown
}

/**
 * A plugin that a factory has created. Nuxt copies its config before modules read it. The copy has only enumerable string keys, so the key
 * is not a symbol. The copy also turns class instances into plain objects. Nuxt does not copy the result of a function, so
 * `__factoryCall` is a function.
 */
export interface MadeByFactory {
  readonly __factoryCall: () => PluginSource
}

/**
 * Defines a plugin, or a factory that `nuxt.config` can call. The server calls such a factory again with the same options, so the
 * options must be plain data. In a file that `nuxt.config` lists, the options can be any value.
 * @example
 * export default defineAutoApiPlugin({
 *   name: 'commit-log',
 *   onCommit: changes => console.log(changes),
 * })
 * @example
 * export const commitLog = defineAutoApiPlugin({ from: 'my-plugins', name: 'commitLog' }, (options: { prefix: string }) => ({
 *   name: 'commit-log',
 *   onCommit: changes => console.log(options.prefix, changes),
 * }))
 */
export function defineAutoApiPlugin(plugin: AutoApiPlugin): AutoApiPlugin
export function defineAutoApiPlugin<Options extends readonly unknown[]>(
  source: Omit<PluginSource, 'options'>,
  create: (...options: Options) => AutoApiPlugin,
): (...options: Options) => AutoApiPlugin
export function defineAutoApiPlugin<Options extends readonly unknown[]>(
  first: AutoApiPlugin | Omit<PluginSource, 'options'>,
  create?: (...options: Options) => AutoApiPlugin,
): AutoApiPlugin | ((...options: Options) => AutoApiPlugin) {
  if (!create) return first as AutoApiPlugin
  return (...options) =>
    ({ ...create(...options), __factoryCall: () => ({ ...(first as Omit<PluginSource, 'options'>), options }) }) satisfies AutoApiPlugin
    & MadeByFactory
}
