/** A clock that runs as fast as the timers of a test need it. Between two of them everything else runs that can run. */
import { vi } from 'vitest'

interface Timer { readonly id: number, readonly at: number, readonly every?: number, readonly run: () => void }

export interface Clock {
  readonly advance: (milliseconds: number) => Promise<void>
  readonly restore: () => void
}

const { setImmediate } = globalThis
const idle = () => new Promise<void>(resolve => setImmediate(resolve))

/** Replaces the timers and `Date.now`. */
export function startClock(): Clock {
  let now = 1_000_000
  let count = 0
  const timers = new Map<number, Timer>()
  const add = (run: () => void, wait = 0, every?: number) => {
    const id = ++count
    timers.set(id, { id, at: now + Math.max(0, wait), every, run })
    return id
  }
  const remove = (id: number) => void timers.delete(id)
  vi.stubGlobal('setTimeout', (run: () => void, wait?: number) => add(run, wait))
  vi.stubGlobal('setInterval', (run: () => void, wait?: number) => add(run, wait, wait))
  vi.stubGlobal('clearTimeout', remove)
  vi.stubGlobal('clearInterval', remove)
  vi.spyOn(Date, 'now').mockImplementation(() => now)

  const next = () => [...timers.values()].reduce<Timer | undefined>((first, timer) =>
    !first || timer.at < first.at || (timer.at === first.at && timer.id < first.id) ? timer : first, undefined)

  return {
    async advance(milliseconds) {
      const end = now + milliseconds
      await idle()
      for (let timer = next(); timer && timer.at <= end; timer = next()) {
        now = Math.max(now, timer.at)
        timers.delete(timer.id)
        if (timer.every !== undefined) timers.set(timer.id, { ...timer, at: now + timer.every })
        timer.run()
        await idle()
      }
      now = end
    },
    restore() {
      vi.unstubAllGlobals()
      vi.restoreAllMocks()
    },
  }
}
