/** Counts requests by key within one server. The window of a key begins with its first request. */

/** The window of a key after one more request. */
export interface Count {
  /** Requests in the window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly left: number
}

/** Counts one more request for a key. Must be atomic among all servers that share it. */
export interface Counter {
  readonly hit: (key: string, milliseconds: number) => Count | Promise<Count>
}

/** Returns synchronously. */
export interface MemoryCounter extends Counter {
  readonly hit: (key: string, milliseconds: number) => Count
}

interface Slot {
  count: number
  end: number
}

/** Ended windows that one request removes: more than it can open, so that they never accumulate. */
const CLEARED = 64

/**
 * Keeps at most `maxKeys` keys for each length of window. Beyond that, the key whose window ends first is removed, and its next
 * request begins a new window.
 */
export function createMemoryCounter(maxKeys: number, now: () => number = wholeMilliseconds): MemoryCounter {
  /** By the length of the window, in which the first key of a map is always the one whose window ends first. */
  const windows = new Map<number, Map<string, Slot>>()
  return {
    hit(key, milliseconds) {
      const time = now()
      let slots = windows.get(milliseconds)
      if (!slots) windows.set(milliseconds, slots = new Map())
      clearEnded(slots, time)
      const slot = findOpen(slots, key, time) ?? open(slots, key, time + milliseconds, maxKeys)
      slot.count += 1
      return { count: slot.count, left: slot.end - time }
    },
  }
}

/** Whole, because `time + window - time` of a fraction can be slightly longer than `window`, and would round up to one second more. */
const wholeMilliseconds = () => Math.floor(performance.now())

function clearEnded(slots: Map<string, Slot>, time: number): void {
  let cleared = 0
  for (const [key, { end }] of slots) {
    if (end > time || cleared++ === CLEARED) return
    slots.delete(key)
  }
}

function findOpen(slots: Map<string, Slot>, key: string, time: number): Slot | undefined {
  const slot = slots.get(key)
  return slot && slot.end > time ? slot : undefined
}

function open(slots: Map<string, Slot>, key: string, end: number, maxKeys: number): Slot {
  // The old window has ended. Deleting it puts the new one at the end of the map, in the order of their ends.
  slots.delete(key)
  if (slots.size >= maxKeys) slots.delete(slots.keys().next().value!)
  const slot = { count: 0, end }
  slots.set(key, slot)
  return slot
}
