/** Limits the number of exports that one process runs at a time. */
import { ApiError } from '../../core/error'

/** Seconds after which a refused client can try again. */
const RETRY_AFTER = 5

export interface Slots {
  /** @returns the function that frees the slot @throws 503 `BUSY` if no slot is free */
  readonly take: () => () => void
}

export function createSlots(count: number): Slots {
  let free = count
  return {
    take() {
      if (free === 0)
        throw new ApiError('BUSY', 'Too many exports are running. Try again later.', {}, undefined, { 'Retry-After': String(RETRY_AFTER) })
      free--
      let isTaken = true
      return () => {
        if (isTaken) free++
        isTaken = false
      }
    },
  }
}
