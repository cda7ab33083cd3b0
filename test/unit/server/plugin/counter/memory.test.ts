/** Counting in one server: the begin and end of windows, and the limit of memory. */
import { describe, expect, it, vi } from 'vitest'
import { createMemoryCounter } from '../../../../../src/runtime/server/plugin/counter/memory'
import { withFallback } from '../../../../../src/runtime/server/plugin/counter/fallback'

function clock() {
  const time = { now: 1_000 }
  return { time, now: () => time.now }
}

describe('a window', () => {
  it('counts every request of its key, and of no other', () => {
    const { hit } = createMemoryCounter(10, () => 0)
    expect([hit('a', 1000), hit('a', 1000), hit('b', 1000), hit('a', 1000)]).toEqual([
      { count: 1, left: 1000 },
      { count: 2, left: 1000 },
      { count: 1, left: 1000 },
      { count: 3, left: 1000 },
    ])
  })

  it('begins with the first request, ends after its length, and is not extended by requests', () => {
    const { time, now } = clock()
    const { hit } = createMemoryCounter(10, now)
    hit('a', 1000)
    time.now += 999
    expect(hit('a', 1000)).toEqual({ count: 2, left: 1 })
    time.now += 1
    expect(hit('a', 1000)).toEqual({ count: 1, left: 1000 })
  })

  it('is never longer than its length, for any fraction of a millisecond that it begins with', () => {
    const fractions = vi.spyOn(performance, 'now')
    const { hit } = createMemoryCounter(1_000)
    for (let key = 0; key < 1_000; key += 1) {
      fractions.mockReturnValue(1_000 + key * 1.000_1)
      expect(hit(`${key}`, 1_000).left).toBe(1_000)
    }
    fractions.mockRestore()
  })

  it('of another length is another window', () => {
    const { hit } = createMemoryCounter(10, () => 0)
    hit('a', 1000)
    expect(hit('a', 2000)).toEqual({ count: 1, left: 2000 })
  })
})

describe('memory', () => {
  it('holds at most maxKeys keys', () => {
    const { hit } = createMemoryCounter(1_000, () => 0)
    const keys = Array.from({ length: 200_000 }, (_, index) => `key-${index}`)
    for (const key of keys) hit(key, 60_000)
    // From the latest back: what is asked about is itself remembered from then on.
    expect(keys.slice(-1_000).filter(key => hit(key, 60_000).count === 2)).toHaveLength(1_000)
    expect(keys.slice(0, 2_000).filter(key => hit(key, 60_000).count === 2)).toEqual([])
  })

  it('a key in full memory keeps its count while others come and go below maxKeys', () => {
    const { hit } = createMemoryCounter(3, () => 0)
    for (const key of ['a', 'b', 'c', 'a', 'b', 'c']) hit(key, 1000)
    expect(hit('a', 1000)).toMatchObject({ count: 3 })
  })

  it('ended windows are removed before any other', () => {
    const { time, now } = clock()
    const { hit } = createMemoryCounter(3, now)
    hit('old', 1000)
    time.now += 600
    for (const key of ['a', 'b']) hit(key, 1000)
    time.now += 600
    hit('c', 1000)
    expect([hit('a', 1000), hit('b', 1000), hit('c', 1000)]).toMatchObject([{ count: 2 }, { count: 2 }, { count: 2 }])
  })

  it('a key with a new window is the last to be removed', () => {
    const { time, now } = clock()
    const { hit } = createMemoryCounter(2, now)
    hit('a', 1000)
    time.now += 1000
    hit('b', 1000)
    time.now += 500
    hit('a', 1000)
    hit('c', 1000)
    expect([hit('c', 1000), hit('a', 1000)]).toMatchObject([{ count: 2 }, { count: 2 }])
  })
})

describe('a store that does not respond', () => {
  const silence = () => vi.spyOn(console, 'error').mockImplementation(() => {})

  it('makes each server count on its own, is logged once, and is used again later', async () => {
    const log = silence()
    const { time, now } = clock()
    const shared = { hit: vi.fn(async () => ({ count: 7, left: 500 })) }
    shared.hit.mockRejectedValueOnce(new Error('gone'))
    const { hit } = withFallback(shared, createMemoryCounter(10, now), now)
    expect([await hit('a', 1000), await hit('a', 1000)]).toEqual([{ count: 1, left: 1000 }, { count: 2, left: 1000 }])
    expect(shared.hit).toHaveBeenCalledTimes(1)
    expect(log).toHaveBeenCalledTimes(1)
    time.now += 5_000
    expect(await hit('a', 1000)).toEqual({ count: 7, left: 500 })
    log.mockRestore()
  })

  it('delays one request by two seconds, and the next ones not at all', async () => {
    const log = silence()
    vi.useFakeTimers()
    const { hit } = withFallback({ hit: () => new Promise(() => {}) }, createMemoryCounter(10))
    const first = hit('a', 60_000)
    await vi.advanceTimersByTimeAsync(2_010)
    expect(await first).toMatchObject({ count: 1 })
    expect(await hit('a', 60_000)).toMatchObject({ count: 2 })
    vi.useRealTimers()
    log.mockRestore()
  })
})

it('uses the count of a store that returns synchronously', async () => {
  expect(await withFallback({ hit: () => ({ count: 3, left: 10 }) }, createMemoryCounter(10)).hit('a', 1000)).toEqual({
    count: 3,
    left: 10,
  })
})
