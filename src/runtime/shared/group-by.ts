/** Groups entries by key. The groups have the order of their first entries. Node 20 does not have `Map.groupBy`. */
export function groupBy<K, V>(entries: readonly V[], keyOf: (entry: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const group = groups.get(key)
    if (group) group.push(entry)
    else groups.set(key, [entry])
  }
  return groups
}
