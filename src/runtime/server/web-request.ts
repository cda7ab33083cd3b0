/** Tells the events of h3 2 from those of h3 1. */

/** Returns the web request of an event of h3 2. In h3 1, `event.req` is Node's request, which has its headers as a plain object. */
export function webRequestOf<T extends object>({ req }: { readonly req?: T }): T | undefined {
  const { headers } = (req ?? {}) as { readonly headers?: { readonly get?: unknown } }
  return typeof headers?.get === 'function' ? req : undefined
}
