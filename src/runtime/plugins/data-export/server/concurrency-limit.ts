/** Limits the number of files that one process exports or imports at a time, in all and for one caller. */
import { ApiError } from '../../../server/kit/errors'

/** Seconds after which a refused client can try again. */
const RETRY_AFTER = 5

export interface Slots {
  /**
   * @param caller the key of the caller
   * @returns the function that frees the slot
   * @throws 503 `BUSY` if no slot is free, or if the caller has its share
   */
  readonly take: (caller: string) => () => void
}

/** @param name of the files in error messages: exports or imports */
export function createSlots(count: number, name: string): Slots {
  /** One caller can have half of the slots, so that it cannot block all others. */
  const share = Math.ceil(count / 2)
  const taken = new Map<string, number>()
  let free = count
  return {
    take(caller) {
      if (free === 0) throw busy(`Too many ${name} are running. Try again later.`)
      const own = taken.get(caller) ?? 0
      if (own === share) throw busy(`You have ${own === 1 ? 'one' : own} of the ${count} ${name} that can run. Wait until it has ended.`)
      free--
      taken.set(caller, own + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        free++
        const left = taken.get(caller)! - 1
        if (left === 0) taken.delete(caller)
        else taken.set(caller, left)
      }
    },
  }
}

const busy = (message: string) => new ApiError('BUSY', message, {}, undefined, { 'Retry-After': String(RETRY_AFTER) })
