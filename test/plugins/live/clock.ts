/** A clock that the tests of live updates move, so that no test waits for time to pass. */
import { vi } from 'vitest'

/** Milliseconds after which the commits of a moment have been judged. */
const COLLECTED = 60

/** Milliseconds after which a server has no timer any more for streams that are closed. */
export const FORGOTTEN = 65_000

/** From now on, time passes only in `pass` and `settle`. */
export const stopClock = () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })

export const startClock = () => void vi.useRealTimers()

/** Lets everything run that waits for no time. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
}

export async function pass(milliseconds: number): Promise<void> {
  await idle()
  await vi.advanceTimersByTimeAsync(milliseconds)
  await idle()
}

/** Lets streams receive the signals about all commits until now. */
export const settle = () => pass(COLLECTED)
