/** Stores responses in the memory of one server. */
import type { Entry, Store } from './store'

interface Slot {
  readonly entry: Entry
  readonly dependencies: readonly string[]
  readonly writes: number
  readonly size: number
  /** Whether the entry was used since it was saved, or since it was last spared. */
  isUsed: boolean
}

/** The bytes of an entry besides its texts: objects, list of dependencies, slot of the map. */
const OVERHEAD = 600
/** Larger responses would displace most of the others. */
const MAX_SHARE = 1 / 4

/**
 * Uses at most `maxBytes` bytes. Beyond that, it removes the oldest responses. A response that was used is spared once for that: it becomes
 * the newest. So a hit changes no order, which would cost more than the rest of it.
 */
export function createMemoryStore(maxBytes: number, now: () => number = Date.now): Store {
  const slots = new Map<string, Slot>()
  let bytes = 0
  /** The number of writes so far, and the number of the last write to each name. */
  let writes = 0
  let lastOfAll = 0
  const last = new Map<string, number>()

  const remove = (key: string, { size }: Slot) => {
    slots.delete(key)
    bytes -= size
  }
  const spare = (key: string, slot: Slot) => {
    slot.isUsed = false
    slots.delete(key)
    slots.set(key, slot)
  }
  const isCurrent = ({ entry, dependencies, writes: known }: Slot) =>
    entry.expires > now() && (known === writes || (known >= lastOfAll && dependencies.every(name => (last.get(name) ?? 0) <= known)))

  /** @param writes the number of writes before the rows of the entry were read */
  function save(key: string, entry: Entry, dependencies: readonly string[], writes: number): void {
    const size = OVERHEAD + 2 * (key.length + entry.text.length + JSON.stringify(entry.headers ?? '').length)
    const known = slots.get(key)
    // A slow request must not replace the response of a later one.
    if (known && known.writes > writes) return
    if (known) remove(key, known)
    if (size > maxBytes * MAX_SHARE) return
    slots.set(key, { entry, dependencies, writes, size, isUsed: false })
    bytes += size
    // Ends: a spared response comes again at the end, and is not spared twice.
    for (const [oldest, slot] of slots) {
      if (bytes <= maxBytes) break
      if (slot.isUsed && isCurrent(slot)) spare(oldest, slot)
      else remove(oldest, slot)
    }
  }

  return {
    find(key) {
      const slot = slots.get(key)
      if (slot) {
        if (isCurrent(slot)) {
          slot.isUsed = true
          return slot
        }
        remove(key, slot)
      }
      const before = writes
      return { moment: String(before), save: (entry, dependencies) => save(key, entry, dependencies, before) }
    },
    raise(names) {
      writes++
      for (const name of names) last.set(name, writes)
    },
    raiseAll() {
      lastOfAll = ++writes
      slots.clear()
      bytes = 0
    },
  }
}
