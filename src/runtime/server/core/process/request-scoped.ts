/**
 * Values that belong to an object which lives as long as one request: an event, a context, a response.
 *
 * A WeakMap would do the same, but the garbage collector checks each of its entries while the request is still young: two entries per
 * request took 10 % of the processor time of a get. A value is therefore a property of the object, which no loop, copy or JSON text shows.
 */
export interface Attached<T> {
  /** The key of the property, for code that looks at every property of an owner. */
  readonly key: symbol
  /** Returns the value of this object or function. A copy of it, and an object that inherits from it, have no value. */
  readonly get: (owner: unknown) => T | undefined
  /** @throws TypeError for an object that is frozen */
  readonly set: (owner: object, value: T) => void
}

/** @param name describes the values for a debugger */
export function createAttached<T>(name: string): Attached<T> {
  const key = Symbol(name)
  const isOwner = (value: unknown): value is { readonly [key]: T } =>
    ((typeof value === 'object' && value !== null) || typeof value === 'function') && Object.hasOwn(value, key)
  return {
    key,
    get: owner => isOwner(owner) ? owner[key] : undefined,
    set: (owner, value) => void Object.defineProperty(owner, key, { value, configurable: true, writable: true }),
  }
}
