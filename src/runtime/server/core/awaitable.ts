/**
 * Steps that wait only if they have to. A request runs through a dozen steps that wait for nothing if the driver is synchronous. As an
 * `async` function, each of them would allocate several hundred bytes: all of them together cost 7 to 14 % of a request.
 *
 * So a step that runs once or more per request and often waits for nothing returns an {@link Awaitable}. An `async` function just awaits
 * it. No other file asks whether something is a promise.
 */
import type { Awaitable } from '../../shared/awaitable'

export type { Awaitable } from '../../shared/awaitable'

/** Whether a value of the app or of a plugin is a promise, or something else that runs when it is awaited, such as a query of Drizzle. */
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'

/** Passes a value to the next step: at once, or when its promise has resolved. */
export function andThen<T, R>(value: T | PromiseLike<T>, next: (value: T) => Promise<R>): Promise<R>
export function andThen<T, R>(value: T | PromiseLike<T>, next: (value: T) => Awaitable<R>): Awaitable<R>
export function andThen<T, R>(value: T | PromiseLike<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isThenable(value) ? Promise.resolve(value as PromiseLike<T>).then(next) : next(value)
}

/** Runs a step, and handles its error: at once, or when its promise has rejected. */
export function attempt<T>(run: () => Awaitable<T>, onError: (error: unknown) => Awaitable<T>): Awaitable<T> {
  try {
    const result = run()
    return isThenable(result) ? Promise.resolve(result).catch(onError) : result
  }
  catch (error) {
    return onError(error)
  }
}

/** Runs a step, then `end`, whether the step has returned or thrown: at once, or when its promise has settled. */
export function always<T>(run: () => Awaitable<T>, end: () => void): Awaitable<T> {
  const done = (value: T) => {
    end()
    return value
  }
  return andThen(attempt(run, (error) => {
    end()
    throw error
  }), done)
}

/**
 * Runs a step for each item, one after another. Each step receives what the one before it has returned.
 * @example
 * inTurn(hooks, (hook, record) => hook(record), record)
 */
export function inTurn<T>(items: readonly T[], step: (item: T) => Awaitable<void>): Awaitable<void>
export function inTurn<T, Value>(items: readonly T[], step: (item: T, value: Value) => Awaitable<Value>, initial: Value): Awaitable<Value>
export function inTurn<T, Value>(
  items: readonly T[], step: (item: T, value: Value) => Awaitable<Value>, initial?: Value,
): Awaitable<Value> {
  let value = initial as Value
  for (let index = 0; index < items.length; index++) {
    const result = step(items[index]!, value)
    if (isThenable(result)) return inTurnAfter(result, items, index + 1, step)
    value = result
  }
  return value
}

async function inTurnAfter<T, Value>(
  pending: PromiseLike<Value>, items: readonly T[], start: number, step: (item: T, value: Value) => Awaitable<Value>,
): Promise<Value> {
  let value = await pending
  for (let index = start; index < items.length; index++) value = await step(items[index]!, value)
  return value
}

/** Wraps a promise, such as with a time limit. A value that is no promise stays as it is. */
export function wrapPromise<T>(value: T | PromiseLike<T>, wrap: (promise: PromiseLike<T>) => Promise<T>): Awaitable<T> {
  return isThenable(value) ? wrap(value as PromiseLike<T>) : value
}
