/** The work that this server has begun. A server that stops waits for it, also after the client has left or has the response. */

const running = new Set<Promise<unknown>>()
let stopping = false

/** Makes a server that stops wait for the promise. @returns the same promise. */
export function keepRunning<T>(work: Promise<T>): Promise<T> {
  running.add(work)
  const forget = () => void running.delete(work)
  work.then(forget, forget)
  return work
}

/** Resolves when all work has ended, with the work that it has begun. From now on, {@link isStopping} is true. */
export async function stopRunning(): Promise<void> {
  stopping = true
  while (running.size > 0) await Promise.allSettled(running)
}

/** Whether the server stops. It then starts no more tasks, which other servers run. */
export const isStopping = (): boolean => stopping
