/** Hooks: global ones, those of plugins, the registration's own, in this order, each within its time. */
import type { AutoApiContext, ResourceHooks } from '../registration'
import type { Resource } from '../schema/model'
import type { Call } from './context'
import { toId, type Key } from '../schema/record-id'

export type HookName = keyof ResourceHooks

type Hook = (...args: never[]) => unknown

/** A hook as it is called: with the arguments its name stands for. */
export type AnyHook = (...args: unknown[]) => unknown

const everywhere: ResourceHooks[] = []
const byResource = new Map<string, ResourceHooks[]>()
/** Which hooks there are, per resource and name; forgotten when one is added. */
let found = new WeakMap<Resource, Map<HookName, readonly Hook[]>>()

/** Hooks for every resource. */
export function addHooks(hooks: ResourceHooks, resource?: string): void {
  if (resource === undefined) everywhere.push(hooks)
  else byResource.set(resource, [...byResource.get(resource) ?? [], hooks])
  found = new WeakMap()
}

export function findHooks(resource: Resource, hook: HookName): readonly Hook[] {
  let known = found.get(resource)
  if (!known) found.set(resource, known = new Map())
  let hooks = known.get(hook)
  if (!hooks) known.set(hook, hooks = collectHooks(resource, hook))
  return hooks
}

function collectHooks({ name, hooks }: Resource, hook: HookName): readonly Hook[] {
  return [...everywhere, ...byResource.get(name) ?? [], ...hooks ? [hooks] : []].flatMap(hooks => hooks[hook] ? [hooks[hook] as Hook] : [])
}

/** The key as hooks know it: the value of a single column, the address of a composite key. */
export function hookId(resource: Resource, key: Key): unknown {
  return key.length === 1 ? key[0] : toId(resource, key)
}

/** The context one item's hooks share: its own, so that what they leave in it does not meet another item's. */
export function itemContext({ ctx }: Call): AutoApiContext {
  return Object.create(ctx) as AutoApiContext
}

/** Runs them one after another; what one returns as an object is what the next one is given. @throws What a hook throws. */
export async function runHooks<T>(call: Call, hook: HookName, value: T, invoke: (run: Hook, value: T) => unknown): Promise<T> {
  let current = value
  for (const run of findHooks(call.resource, hook)) {
    const result = await withinTime(call, hook, invoke(run, current))
    if (typeof result === 'object' && result !== null) current = result as T
  }
  return current
}

/** After-hooks of a write: all of them run, the first error is answered in the end, or only logged. */
export async function runAfterHooks<T>(
  call: Call,
  hook: HookName,
  value: T,
  invoke: (run: Hook, value: T) => unknown,
  errors: unknown[],
): Promise<T> {
  let current = value
  for (const run of findHooks(call.resource, hook)) {
    try {
      const result = await withinTime(call, hook, invoke(run, current))
      if (typeof result === 'object' && result !== null) current = result as T
    }
    catch (error) {
      if (call.api.config.hookConfig.afterErrors === 'log')
        console.error(`[auto-api] ${hook} of \`${call.resource.name}\` threw after the commit.`, error)
      else errors.push(error)
    }
  }
  return current
}

async function withinTime(call: Call, hook: HookName, result: unknown): Promise<unknown> {
  if (!(result instanceof Promise)) return result
  const { timeout } = call.api.config.hookConfig
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`[auto-api] ${hook} of \`${call.resource.name}\` took longer than ${timeout} ms.`)), timeout)
  })
  try {
    return await Promise.race([result, late])
  }
  finally {
    clearTimeout(timer)
  }
}
