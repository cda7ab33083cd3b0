/** The hooks of one API: global ones, those of plugins and server plugins, the registration's own, in this order. */
import type { ResourceHooks } from '../registration'
import type { Resource } from '../schema/model'

export type HookName = keyof ResourceHooks

export type Hook = (...args: never[]) => unknown

export interface HookRegistry {
  /** @param resource every resource where it is absent. */
  readonly add: (hooks: ResourceHooks, resource?: string) => void
  readonly find: (resource: Resource, hook: HookName) => readonly Hook[]
}

export function createHookRegistry(): HookRegistry {
  const global: ResourceHooks[] = []
  const byResource = new Map<string, ResourceHooks[]>()
  /** Found hooks per resource and name. Adding a hook invalidates all of them. */
  let found = new WeakMap<Resource, Map<HookName, readonly Hook[]>>()

  const collect = ({ name, hooks }: Resource, hook: HookName): readonly Hook[] =>
    [...global, ...byResource.get(name) ?? [], ...hooks ? [hooks] : []].flatMap(hooks => hooks[hook] ? [hooks[hook] as Hook] : [])

  return {
    add(hooks, resource) {
      if (resource === undefined) global.push(hooks)
      else byResource.set(resource, [...byResource.get(resource) ?? [], hooks])
      found = new WeakMap()
    },
    find(resource, hook) {
      let known = found.get(resource)
      if (!known) found.set(resource, known = new Map())
      let hooks = known.get(hook)
      if (!hooks) known.set(hook, hooks = collect(resource, hook))
      return hooks
    },
  }
}
