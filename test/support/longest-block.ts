/** How long work blocks the event loop, for tests and the benchmark. */

/** Milliseconds that this thread has worked. On a machine with other work to do, the clock would measure that work too. */
function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Returns the milliseconds of the longest work during which nothing else in the process had its turn. */
export async function longestBlock(run: () => Promise<unknown>): Promise<number> {
  let [longest, last, running] = [0, worked(), true]
  const tick = () => {
    const now = worked()
    longest = Math.max(longest, now - last)
    last = now
    if (running) setImmediate(tick)
  }
  setImmediate(tick)
  await new Promise(resolve => setImmediate(resolve))
  longest = 0
  await run()
  await new Promise(resolve => setImmediate(resolve))
  running = false
  return longest
}
