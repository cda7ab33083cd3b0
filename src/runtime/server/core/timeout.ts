/** Limits the time that code waits for a storage or a database. */

/**
 * @param milliseconds long enough for a busy server to process the response
 * @throws When the promise is not settled in time.
 */
export async function withTimeout<T>(result: T | Promise<T>, milliseconds: number): Promise<T> {
  if (!(result instanceof Promise)) return result
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_, reject) => {
    // The response can arrive while this server is busy. The second timer lets the event loop process it first.
    timer = setTimeout(() => {
      timer = setTimeout(() => reject(new Error(`No response within ${milliseconds} ms.`)), 10)
    }, milliseconds)
  })
  try {
    return await Promise.race([result, timedOut])
  }
  finally {
    clearTimeout(timer)
  }
}
