/** A cache of limited size. If it is full, it removes the least recently used entry. */

export function createLruCache<V>(max: number): (key: string, create: () => V) => V {
  const entries = new Map<string, V>()
  return (key, create) => {
    let value = entries.get(key)
    if (value !== undefined) {
      // Moving an entry to the end costs more than finding it, so the cache keeps the order only when it is more than half full.
      if (entries.size > max / 2) {
        entries.delete(key)
        entries.set(key, value)
      }
      return value
    }
    value = create()
    if (entries.size >= max) entries.delete(entries.keys().next().value!)
    entries.set(key, value)
    return value
  }
}
