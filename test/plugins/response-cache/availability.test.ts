/** A storage that fails: how long requests wait for it, when it is tried again, and what is used after its return. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAvailability } from '../../../src/runtime/plugins/response-cache/server/availability'

// A storage that nobody waits for must not hold up the other tests.
vi.setConfig({ testTimeout: 5_000 })

let log: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  vi.useFakeTimers()
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  // First, because a test can mock a timer that is a mock itself.
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const works = async () => 'found'
const fails = async () => {
  throw new Error('down')
}

/** A storage whose recovery a test can let fail. */
function open(onDisconnect?: (listen: () => void) => void) {
  const state = { recoveries: 0, isDown: false }
  const availability = createAvailability(async () => {
    state.recoveries++
    if (state.isDown) throw new Error('still down')
  }, onDisconnect)
  return { ...availability, state }
}

describe('a storage that responds', () => {
  it('is used without a recovery', async () => {
    const { run, state } = open()
    expect([await run(works), await run(works, true), state.recoveries]).toEqual(['found', 'found', 0])
    expect(log).not.toHaveBeenCalled()
  })
})

describe('a storage that fails', () => {
  it('is skipped for a second, then outdated, and only then used again', async () => {
    const { run, state } = open()
    expect(await run(fails)).toBeUndefined()
    const operation = vi.fn(works)
    for (const milliseconds of [0, 500, 499]) {
      vi.advanceTimersByTime(milliseconds)
      expect(await run(operation)).toBeUndefined()
    }
    expect([state.recoveries, operation.mock.calls.length]).toEqual([0, 0])
    vi.advanceTimersByTime(1)
    expect([await run(operation), state.recoveries]).toEqual(['found', 1])
    expect([await run(operation), state.recoveries]).toEqual(['found', 1])
    // The timer that would have tried it finds nothing to do.
    await vi.advanceTimersByTimeAsync(60_000)
    expect(state.recoveries).toBe(1)
  })

  it('is outdated before it is used again if a write was lost meanwhile', async () => {
    const { run, state } = open()
    await run(fails)
    expect(await run(works, true)).toBeUndefined()
    vi.advanceTimersByTime(1_000)
    expect([await run(works), state.recoveries]).toEqual(['found', 1])
  })

  it.each<[string, unknown, boolean]>([['Node', { unref: vi.fn() }, true], ['a platform whose timers are numbers', 1, false]])(
    'does not keep the process alive: %s', async (_what, timer, hasUnref) => {
      vi.spyOn(globalThis, 'setTimeout').mockReturnValue(timer as never)
      expect(await open().run(fails)).toBeUndefined()
      if (hasUnref) expect((timer as { unref: () => void }).unref).toHaveBeenCalledOnce()
    },
  )

  it('recovers by itself, without a request', async () => {
    const { run, state } = open()
    await run(fails)
    await vi.advanceTimersByTimeAsync(1_019)
    expect(state.recoveries).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(state.recoveries).toBe(1)
    expect([await run(works), state.recoveries]).toEqual(['found', 1])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(state.recoveries).toBe(1)
  })

  it('is tried again every second while it is down', async () => {
    const { run, state } = open()
    state.isDown = true
    await run(fails)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(state.recoveries).toBe(4)
    state.isDown = false
    await vi.advanceTimersByTimeAsync(1_020)
    expect([await run(works), state.recoveries]).toEqual(['found', 5])
  })

  it('is logged once until it returns, with its error', async () => {
    const { run, state } = open()
    state.isDown = true
    await run(fails)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(log.mock.calls).toEqual([[expect.stringContaining('responseCache: the storage does not respond'), new Error('down')]])
    state.isDown = false
    await vi.advanceTimersByTimeAsync(1_020)
    await run(fails)
    expect(log).toHaveBeenCalledTimes(2)
  })

  it('is one that does not respond within a second', async () => {
    const { run } = open()
    let isDone = false
    const result = run(() => new Promise<string>(() => {})).finally(() => isDone = true)
    await vi.advanceTimersByTimeAsync(999)
    expect(isDone).toBe(false)
    await vi.advanceTimersByTimeAsync(20)
    expect(await result).toBeUndefined()
    expect(log.mock.calls[0]![1]).toEqual(new Error('No response within 1000 ms.'))
  })

  it('whose recovery does not respond is still down', async () => {
    const { run } = createAvailability(() => new Promise<void>(() => {}))
    await run(fails)
    await vi.advanceTimersByTimeAsync(1_020)
    const result = run(works)
    await vi.advanceTimersByTimeAsync(1_020)
    expect(await result).toBeUndefined()
  })
})

describe('an operation that ran while the storage failed', () => {
  it('has no result, because it can have read what a lost write would have outdated', async () => {
    const { run } = open()
    let respond: (found: string) => void
    const slow = run(() => new Promise<string>(resolve => respond = resolve))
    await run(fails)
    respond!('outdated')
    expect(await slow).toBeUndefined()
  })
})

describe('requests at the same time as a recovery', () => {
  it('do not wait for it, and do not start another one', async () => {
    let recover: () => void
    const recovery = vi.fn(() => new Promise<void>(resolve => recover = resolve))
    const { run } = createAvailability(recovery)
    await run(fails)
    vi.advanceTimersByTime(1_000)
    const first = run(works)
    expect(await run(works)).toBeUndefined()
    recover!()
    expect(await first).toBe('found')
    expect(recovery).toHaveBeenCalledOnce()
    expect(await run(works)).toBe('found')
  })

  it('make another recovery necessary if they write', async () => {
    let recover: () => void
    const recovery = vi.fn(() => new Promise<void>(resolve => recover = resolve))
    const { run } = createAvailability(recovery)
    await run(fails)
    vi.advanceTimersByTime(1_000)
    const first = run(works)
    // This write is lost: what it would have outdated is still there.
    expect(await run(works, true)).toBeUndefined()
    recover!()
    expect(await first).toBeUndefined()
    const second = run(works)
    expect(recovery).toHaveBeenCalledTimes(2)
    recover!()
    expect(await second).toBe('found')
  })
})

describe('a connection that ends', () => {
  it('makes a recovery necessary, at once and without a line in the log', async () => {
    let disconnect: () => void
    const { run, state } = open(listen => disconnect = listen)
    expect([await run(works), state.recoveries]).toEqual(['found', 0])
    disconnect!()
    expect([await run(works), state.recoveries]).toEqual(['found', 1])
    expect(log).not.toHaveBeenCalled()
  })

  it('while an operation runs, and then fails, makes a recovery necessary as well', async () => {
    let disconnect: () => void
    const { run, state } = open(listen => disconnect = listen)
    let fail: (error: Error) => void
    const slow = run(() => new Promise<string>((_, reject) => fail = reject))
    disconnect!()
    fail!(new Error('down'))
    expect(await slow).toBeUndefined()
    expect([await run(works), state.recoveries]).toEqual([undefined, 0])
    vi.advanceTimersByTime(1_000)
    expect([await run(works), state.recoveries]).toEqual(['found', 1])
  })
})
