/** Limits the time that code waits for a storage, a database or a hook. */
import { isThenable } from './thenable'

/**
 * @param milliseconds long enough for a busy server to process the response
 * @param message the message of the error
 * @throws When the promise is not settled in time.
 */
export async function withTimeout<T>(
  result: T | PromiseLike<T>, milliseconds: number, message = `No response within ${milliseconds} ms.`,
): Promise<T> {
  if (!isThenable(result)) return result as T
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_, reject) => {
    // The response can arrive while this server is busy. The second timer lets the event loop process it first.
    timer = setTimeout(() => {
      timer = setTimeout(() => reject(new Error(message)), 10)
    }, milliseconds)
  })
  try {
    return await Promise.race([result, timedOut])
  }
  finally {
    clearTimeout(timer)
  }
}
