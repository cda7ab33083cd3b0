/** The extensions that an app and its plugins add to one API: hooks, context extenders, permission evaluators, endpoints and listeners. */
import type { AutoApiContext, ResourceHooks } from '../../registration'
import type { Resource } from '../../schema/model'
import { createHookRegistry, type HookRegistry } from './hook-registry'
import type { CredentialSource } from './credentials'
import type { Listeners } from './listeners'
import type { PluginRowFilter, RowCheck } from './row-filters'
import { createServices, type Services } from './services'

export type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Extends the context of every request: sets the caller, the tenant, or the app's own keys. */
export type ContextExtender = (ctx: Writable<AutoApiContext> & Record<string, unknown>) => unknown

/** Evaluates permissions that are objects, if the evaluator supports this kind of object. */
export interface PermissionEvaluator {
  /** Whether this evaluator supports the permission object. */
  readonly claims: (permission: Readonly<Record<string, unknown>>) => boolean
  readonly evaluate: (permission: Readonly<Record<string, unknown>>, ctx: AutoApiContext) => unknown
}

/** The resource and the named gate that authorize an endpoint. */
export interface EndpointTarget {
  readonly resource?: string
  readonly endpointName?: string
  /** Whether the endpoint supports `Idempotency-Key`. */
  readonly idempotent?: boolean
}

export interface Extensions {
  readonly hooks: HookRegistry
  readonly extenders: readonly ContextExtender[]
  readonly evaluators: readonly PermissionEvaluator[]
  readonly endpoints: readonly EndpointTarget[]
  readonly listeners: Listeners
  readonly credentials: readonly CredentialSource[]
  readonly services: Services
  /** The names of the resources that plugins change without reporting it. */
  readonly unreported: ReadonlySet<string>
  /** The row filters of plugins by resource. A resource without filters is absent. */
  readonly rowFilters: ReadonlyMap<Resource, readonly PluginRowFilter[]>
  /** The row checks of plugins by resource. A resource without checks is absent. */
  readonly rowChecks: ReadonlyMap<Resource, readonly RowCheck[]>
  /** @throws When the resource is not registered. */
  readonly addResourceHook: (resource: string, hooks: ResourceHooks) => void
  readonly addGlobalHook: (hooks: ResourceHooks) => void
  readonly addContextExtender: (extender: ContextExtender) => void
  readonly registerPermissionEvaluator: (evaluator: PermissionEvaluator) => void
  readonly addEndpoint: (endpoint: EndpointTarget) => void
  readonly addRowFilter: (resource: Resource, filter: PluginRowFilter) => void
  readonly addRowCheck: (resource: Resource, check: RowCheck) => void
  readonly addUnreported: (resource: string) => void
  readonly addCredentials: (source: CredentialSource) => void
  readonly addListeners: (listeners: Readonly<Partial<{ [K in keyof Listeners]: Listeners[K][number] }>>) => void
}

export function createExtensions(resources: ReadonlyMap<string, Resource>): Extensions {
  const hooks = createHookRegistry()
  const extenders: ContextExtender[] = []
  const evaluators: PermissionEvaluator[] = []
  const endpoints: EndpointTarget[] = []
  const credentials: CredentialSource[] = []
  const unreported = new Set<string>()
  const rowFilters = new Map<Resource, readonly PluginRowFilter[]>()
  const rowChecks = new Map<Resource, readonly RowCheck[]>()
  const listeners: FillableListeners = {
    onArrival: [], onRequest: [], onCaller: [], around: [], onResponse: [], onCommit: [], inCommit: [], watch: [], onStop: [],
  }
  return {
    hooks,
    extenders,
    evaluators,
    endpoints,
    listeners,
    credentials,
    services: createServices(),
    unreported,
    rowFilters,
    rowChecks,
    addResourceHook(resource, added) {
      if (!resources.has(resource))
        throw new Error(
          `[auto-api] addResourceHook('${resource}'): the resource \`${resource}\` is not registered. `
          + `Use one of: ${[...resources.keys()].join(', ')}.`,
        )
      hooks.add(added, resource)
    },
    addGlobalHook: added => hooks.add(added),
    addContextExtender: extender => void extenders.push(extender),
    registerPermissionEvaluator: evaluator => void evaluators.push(evaluator),
    addEndpoint: endpoint => void endpoints.push(endpoint),
    addRowFilter: (resource, filter) => void rowFilters.set(resource, [...rowFilters.get(resource) ?? [], filter]),
    addRowCheck: (resource, check) => void rowChecks.set(resource, [...rowChecks.get(resource) ?? [], check]),
    addUnreported: resource => void unreported.add(resource),
    addCredentials: source => void credentials.push(source),
    addListeners({ onArrival, onRequest, onCaller, around, onResponse, onCommit, inCommit, watch, onStop }) {
      if (onArrival) listeners.onArrival.push(onArrival)
      if (onRequest) listeners.onRequest.push(onRequest)
      if (onCaller) listeners.onCaller.push(onCaller)
      if (around) listeners.around.push(around)
      if (onResponse) listeners.onResponse.push(onResponse)
      if (onCommit) listeners.onCommit.push(onCommit)
      if (inCommit) listeners.inCommit.push(inCommit)
      if (watch) listeners.watch.push(watch)
      if (onStop) listeners.onStop.push(onStop)
    },
  }
}

type FillableListeners = { readonly [K in keyof Listeners]: Listeners[K][number][] }
