/** Whether a value of the app or of a plugin is a promise, or something else that runs when it is awaited, such as a query of Drizzle. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
