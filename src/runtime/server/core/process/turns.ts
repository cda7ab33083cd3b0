/** Lets other requests run during long work, because a synchronous driver and a loop never yield to the event loop themselves. */

/** Resolves after other requests have run. Workers have no `setImmediate`. */
export const yieldToEventLoop = (): Promise<void> => new Promise<void>((resolve) => {
  if (typeof setImmediate === 'function') setImmediate(resolve)
  else setTimeout(resolve, 0)
})

/** The milliseconds after which other requests can run. */
const TURN = 10
/** On Cloudflare Workers, the clock stands still while code runs. */
const STEPS_PER_TURN = 200

/** @returns a function to call before each step of the work. It returns a promise if other requests have to run first. */
export function createTurns(turn = TURN): () => Promise<void> | undefined {
  let since = performance.now()
  let steps = 0
  return () => {
    if (++steps % STEPS_PER_TURN > 0 && performance.now() - since < turn) return undefined
    return yieldToEventLoop().then(() => void (since = performance.now()))
  }
}
