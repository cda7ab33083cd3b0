/** Whether a value of the app or of a plugin is a promise, or something else that runs when it is awaited, such as a query of Drizzle. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'

/**
 * Passes a value to the next step: at once, or when its promise has resolved. A request runs through a dozen steps that wait for nothing if
 * the driver is synchronous. As an `async` function, each of them would allocate several hundred bytes.
 */
export function andThen<T, R>(value: T | PromiseLike<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value as PromiseLike<T>).then(next) : next(value)
}

/** Runs a step, and handles its error: at once, or when its promise has rejected. */
export function attempt<T>(run: () => T | Promise<T>, onError: (error: unknown) => T | Promise<T>): T | Promise<T> {
  try {
    const result = run()
    return isThenable(result) ? Promise.resolve(result).catch(onError) : result
  }
  catch (error) {
    return onError(error)
  }
}
