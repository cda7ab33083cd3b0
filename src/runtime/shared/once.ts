/** Returns a function that runs `run` at its first call, and returns the same value each time. */
export function once<T>(run: () => T): () => T {
  let result: { readonly value: T } | undefined
  return () => (result ??= { value: run() }).value
}
