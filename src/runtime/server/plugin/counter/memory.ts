/** Counts requests by key within one server. The window of a key begins with its first request. */
import type { Awaitable } from '../../core/awaitable'

/** The state of a key's window after one more request. */
export interface Count {
  /** Requests in the window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly left: number
}

/** `hit` counts one more request for a key. It must be atomic among all servers that share the counter. */
export interface Counter {
  readonly hit: (key: string, milliseconds: number) => Awaitable<Count>
}

/** A counter that returns synchronously. */
export interface MemoryCounter extends Counter {
  readonly hit: (key: string, milliseconds: number) => Count
}

interface Slot {
  count: number
  end: number
}

/** Maximum number of ended windows that one request removes. A request opens fewer windows, so ended windows never accumulate. */
const MAX_CLEARED = 64

/**
 * Keeps at most `maxKeys` keys for each length of window. Beyond that, the key whose window ends first is removed, and its next
 * request begins a new window.
 */
export function createMemoryCounter(maxKeys: number, now: () => number = wholeMilliseconds): MemoryCounter {
  /** Maps of keys, by the length of their window. The first key of each map is the key whose window ends first. */
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

/** Returns no fraction, because then `time + window - time` could be slightly longer than `window` and round up to one more second. */
const wholeMilliseconds = () => Math.floor(performance.now())

function clearEnded(slots: Map<string, Slot>, time: number): void {
  let cleared = 0
  for (const [key, { end }] of slots) {
    if (end > time || cleared++ === MAX_CLEARED) return
    slots.delete(key)
  }
}

function findOpen(slots: Map<string, Slot>, key: string, time: number): Slot | undefined {
  const slot = slots.get(key)
  return slot && slot.end > time ? slot : undefined
}

function open(slots: Map<string, Slot>, key: string, end: number, maxKeys: number): Slot {
  // Removes the ended window, so that the map appends the new window and keeps its windows in the order of their ends.
  slots.delete(key)
  if (slots.size >= maxKeys) slots.delete(slots.keys().next().value!)
  const slot = { count: 0, end }
  slots.set(key, slot)
  return slot
}

/** Converts to whole seconds, rounded up and at least 1, so that the window has ended after them. */
export function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}
