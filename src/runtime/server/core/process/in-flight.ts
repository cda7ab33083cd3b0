/** The work that this server has begun. A server that stops waits for it, also after the client has left or has the response. */

/** The number of the pieces of work that have begun and not ended. */
let running = 0
let stopping = false
/** Called when no work is left. Empty unless the server stops. */
let waiting: (() => void)[] = []

/** Makes a server that stops wait until {@link workEnds} is called. A request calls both, because a promise for it would cost more. */
export function workBegins(): void {
  running++
}

/** Ends the work of one call of {@link workBegins}. */
export function workEnds(): void {
  running--
  if (running > 0 || waiting.length === 0) return
  for (const resolve of waiting) resolve()
  waiting = []
}

/** Makes a server that stops wait for the promise. @returns the same promise. */
export function keepRunning<T>(work: Promise<T>): Promise<T> {
  workBegins()
  work.then(workEnds, workEnds)
  return work
}

/** Resolves when all work has ended, with the work that it has begun. From now on, {@link isStopping} is true. */
export async function stopRunning(): Promise<void> {
  stopping = true
  while (running > 0) await new Promise<void>(resolve => waiting.push(resolve))
}

/** Whether the server stops. It then starts no more tasks, which other servers run. */
export const isStopping = (): boolean => stopping
