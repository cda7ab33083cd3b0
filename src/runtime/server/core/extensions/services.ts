/** What the parts of a server and its plugins offer to each other. Each API has its own values. */

/** The key of a value of a type. The object itself is the key, so the name is only for a debugger. */
export interface Service<T> {
  readonly name: string
  readonly type?: T
}

export interface Services {
  /** Returns `undefined` if no plugin offers the service. Complete only after the `setup` of every plugin. */
  readonly get: <T>(service: Service<T>) => T | undefined
  readonly set: <T>(service: Service<T>, value: T) => void
}

/**
 * @example
 * const AUDIT_LOG = defineService<AuditLog>('audit log')
 * server.services.set(AUDIT_LOG, log)
 */
export const defineService = <T>(name: string): Service<T> => Object.freeze({ name })

export function createServices(): Services {
  const values = new Map<unknown, unknown>()
  return Object.freeze({
    get: <T>(service: Service<T>) => values.get(service) as T | undefined,
    set: <T>(service: Service<T>, value: T) => void values.set(service, value),
  })
}
