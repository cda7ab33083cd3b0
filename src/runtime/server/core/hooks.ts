/** Runs hooks one after another, each with a timeout. */
import type { AutoApiContext } from '../registration'
import type { Resource } from '../schema/model'
import type { Call, Session } from './context'
import { toId, type Key } from '../schema/record-id'
import type { Hook, HookName } from './hook-registry'
import { logError } from './log'

export type { HookName } from './hook-registry'

/** A hook of any name. The name determines the arguments. */
export type AnyHook = (...args: unknown[]) => unknown

export function findHooks({ api }: Session, resource: Resource, hook: HookName): readonly Hook[] {
  return api.hooks.find(resource, hook)
}

/** Returns the id that hooks receive: the value of a single key column, or the id as in the path if the key is composite. */
export function idForHooks(resource: Resource, key: Key): unknown {
  return key.length === 1 ? key[0] : toId(resource, key)
}

/** Creates the context that the hooks of one item share. Keys that a hook sets in it are not visible to the hooks of other items. */
export function itemContext({ ctx }: Call): AutoApiContext {
  return Object.create(ctx) as AutoApiContext
}

/**
 * Runs the hooks one after another. An object that a hook returns replaces the value for the next hook. Without hooks, it returns the value
 * itself.
 * @throws The error of a hook.
 */
export function runHooks<T>(call: Call, hook: HookName, value: T, invoke: (run: Hook, value: T) => unknown): T | Promise<T> {
  const hooks = findHooks(call, call.resource, hook)
  return hooks.length === 0 ? value : runEach(hooks, call, hook, value, invoke)
}

async function runEach<T>(
  hooks: readonly Hook[], call: Call, hook: HookName, value: T, invoke: (run: Hook, value: T) => unknown,
): Promise<T> {
  let current = value
  for (const run of hooks) {
    const result = await withTimeout(call, hook, invoke(run, current))
    if (typeof result === 'object' && result !== null) current = result as T
  }
  return current
}

/**
 * Runs every after-hook of a write, but none after a dry run. Adds errors to `errors`, or only logs them if `hookConfig.afterErrors` is
 * `'log'`.
 */
export async function runAfterHooks<T>(
  call: Call,
  hook: HookName,
  value: T,
  invoke: (run: Hook, value: T) => unknown,
  errors: unknown[],
): Promise<T> {
  let current = value
  if (call.ctx.dryRun) return current
  for (const run of findHooks(call, call.resource, hook)) {
    try {
      const result = await withTimeout(call, hook, invoke(run, current))
      if (typeof result === 'object' && result !== null) current = result as T
    }
    catch (error) {
      if (call.api.config.hookConfig.afterErrors === 'log')
        logError(call.ctx, `${hook} of \`${call.resource.name}\` threw after the commit.`, error)
      else errors.push(error)
    }
  }
  return current
}

async function withTimeout(call: Call, hook: HookName, result: unknown): Promise<unknown> {
  if (!(result instanceof Promise)) return result
  const { timeout } = call.api.config.hookConfig
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`[auto-api] ${hook} of \`${call.resource.name}\` took longer than ${timeout} ms.`)), timeout)
  })
  try {
    return await Promise.race([result, timedOut])
  }
  finally {
    clearTimeout(timer)
  }
}
