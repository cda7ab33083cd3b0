/**
 * Returns a function that computes a value once for each object, and forgets it with the object. The one form of a cache by identity.
 *
 * Use it for objects that live as long as the server, such as resources and tables. For those of one request, use `createAttached`.
 * @example
 * const keyFields = memoized((resource: Resource) => select(resource, field => resource.primaryKey.includes(field)))
 */
export function memoized<Owner extends object, Value>(create: (owner: Owner) => Value): (owner: Owner) => Value {
  const known = new WeakMap<Owner, Value>()
  return (owner) => {
    const value = known.get(owner)
    if (value !== undefined || known.has(owner)) return value as Value
    const created = create(owner)
    known.set(owner, created)
    return created
  }
}

/** Like {@link memoized}, for two objects. */
export function memoizedPair<One extends object, Other extends object, Value>(
  create: (one: One, other: Other) => Value,
): (one: One, other: Other) => Value {
  const byOne = memoized((one: One) => memoized((other: Other) => create(one, other)))
  return (one, other) => byOne(one)(other)
}

let last = 0

/** A number that identifies an object. It never changes and is never used again. */
export const idOf: (value: object) => number = memoized(() => ++last)
