/** Reads a member of the target of a proxy. */

/** Returns a method bound to the target, because classes with private members do not work through a proxy. */
export function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name)
  return typeof value === 'function' ? value.bind(target) : value
}
