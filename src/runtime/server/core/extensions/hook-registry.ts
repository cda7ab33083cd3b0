/**
 * Stores the hooks of one API. They run in this order: global hooks, hooks that plugins and server plugins add to the resource,
 * hooks of the registration.
 */
import type { ResourceHooks } from '../../registration'
import type { Resource } from '../../schema/model'
import { memoized } from '../memoized'

export type HookName = keyof ResourceHooks

export type Hook = (...args: never[]) => unknown

export interface HookRegistry {
  /** @param resource If it is absent, the hooks apply to every resource. */
  readonly add: (hooks: ResourceHooks, resource?: string) => void
  readonly find: (resource: Resource, hook: HookName) => readonly Hook[]
}

export function createHookRegistry(): HookRegistry {
  const global: ResourceHooks[] = []
  const byResource = new Map<string, ResourceHooks[]>()
  /** Caches the hooks by resource and hook name. `add` clears the cache. */
  const createFound = () => memoized((_: Resource) => new Map<HookName, readonly Hook[]>())
  let found = createFound()

  const collect = ({ name, hooks }: Resource, hook: HookName): readonly Hook[] =>
    [...global, ...byResource.get(name) ?? [], ...hooks ? [hooks] : []].flatMap(hooks => hooks[hook] ? [hooks[hook] as Hook] : [])

  return {
    add(hooks, resource) {
      if (resource === undefined) global.push(hooks)
      else byResource.set(resource, [...byResource.get(resource) ?? [], hooks])
      found = createFound()
    },
    find(resource, hook) {
      const known = found(resource)
      let hooks = known.get(hook)
      if (!hooks) known.set(hook, hooks = collect(resource, hook))
      return hooks
    },
  }
}
