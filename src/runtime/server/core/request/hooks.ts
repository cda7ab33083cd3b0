/** Runs hooks one after another, each with a timeout. */
import type { AutoApiContext } from '../../registration'
import type { Resource } from '../../schema/model'
import type { Call, Session } from './session'
import { toId, type Key } from '../../schema/record-id'
import type { Hook, HookName } from '../extensions/hook-registry'
import { logError } from '../process/log'
import { andThen, attempt, inTurn, type Awaitable } from '../awaitable'
import { withTimeout } from '../process/timeout'
import { traceHook } from '../process/trace'

export type { HookName } from '../extensions/hook-registry'

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
 * itself. A promise only if a hook returns one, because a bulk write runs hundreds of hooks.
 * @throws The error of a hook.
 */
export function runHooks<T>(call: Call, hook: HookName, value: T, invoke: (run: Hook, value: T) => unknown): Awaitable<T> {
  return inTurn(findHooks(call, call.resource, hook), (run, current) =>
    andThen(inTime(call, hook, () => invoke(run, current)), result => replaced(current, result)), value)
}

const replaced = <T>(value: T, result: unknown): T => typeof result === 'object' && result !== null ? result as T : value

/**
 * Runs every after-hook of a write, but none after a dry run. Adds errors to `errors`, or only logs them if `hookConfig.afterErrors` is
 * `'log'`.
 */
export async function runAfterHooks<T>(
  call: Call, hook: HookName, value: T, invoke: (run: Hook, value: T) => unknown, errors: unknown[],
): Promise<T> {
  let current = value
  if (call.ctx.dryRun) return current
  for (const run of findHooks(call, call.resource, hook)) {
    try {
      current = replaced(current, await inTime(call, hook, () => invoke(run, current)))
    }
    catch (error) {
      if (call.api.config.hookConfig.afterErrors === 'log')
        logError(call.ctx, `${hook} of \`${call.resource.name}\` threw after the commit.`, error)
      else errors.push(error)
    }
  }
  return current
}

function inTime({ api, resource: { name }, ctx }: Call, hook: HookName, run: () => unknown): Awaitable<unknown> {
  const { timeout } = api.config.hookConfig
  const limited = () => withTimeout(run(), timeout, `[auto-api] ${hook} of \`${name}\` took longer than ${timeout} ms.`)
  return traceHook(name, ctx.operation, hook, () => attempt(limited, (error) => {
    // `Promise.reject()` refuses too. Without an error, the item would count as accepted.
    throw error ?? new Error(`[auto-api] ${hook} of \`${name}\` threw ${String(error)}.`)
  }))
}
