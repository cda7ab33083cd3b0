/** Counting requests by key, in windows that begin with a key's first request. Here: within one server. */

/** One request more, seen from its window. */
export interface Count {
  /** Requests in the window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly left: number
}

/** Counts one more request for a key and tells how many there are. Must be atomic among all who share it. */
export interface Counter {
  readonly hit: (key: string, milliseconds: number) => Count | Promise<Count>
}

/** Answers at once. */
export interface MemoryCounter extends Counter {
  readonly hit: (key: string, milliseconds: number) => Count
}

interface Slot {
  count: number
  end: number
}

/** Ended windows that one request clears away: more than it can open, so that they never pile up. */
const CLEARED = 64

/**
 * Keys of one server. However many there are, no more than `maxKeys` of a window's length are remembered: beyond, the
 * one whose window ends first is forgotten, and may begin anew.
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

/** Whole, because a fraction would come back from `time + window - time` a trifle longer, and round up to a second more. */
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
  // What is there has ended; deleting it puts the new one at the end, where it belongs.
  slots.delete(key)
  if (slots.size >= maxKeys) slots.delete(slots.keys().next().value!)
  const slot = { count: 0, end }
  slots.set(key, slot)
  return slot
}
