/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** Whether a value that must not be a promise is one. To wait for a value, use `core/awaitable.ts`. */
export const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise
