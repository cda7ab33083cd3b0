/** Limits the time that code waits for a storage, a database or a hook. */
import { wrapPromise, type Awaitable } from '../awaitable'

/**
 * @param milliseconds long enough for a busy server to process the response
 * @param message the message of the error
 * @throws When the promise is not settled in time.
 */
export const withTimeout = <T>(
  result: T | PromiseLike<T>, milliseconds: number, message = `No response within ${milliseconds} ms.`,
): Awaitable<T> => wrapPromise(result, promise => inTime(promise, milliseconds, message))

async function inTime<T>(result: PromiseLike<T>, milliseconds: number, message: string): Promise<T> {
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
