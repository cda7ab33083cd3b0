/** A cache of limited size: it drops the entry that was used longest ago. */

export function createLruCache<V>(max: number): (key: string, create: () => V) => V {
  const entries = new Map<string, V>()
  return (key, create) => {
    let value = entries.get(key)
    if (value !== undefined) {
      // Moving an entry to the end costs more than finding it: only a cache that is half full needs the order.
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
