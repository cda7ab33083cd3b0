/** Delivers what is due: after commits, when a retry is due, and every minute. */
import type { Api } from '../../../server/kit/call'
import { createQueue } from './queue'
import { createRounds, type Rounds } from './rounds'
import type { TurnOptions } from './turn'

/** Milliseconds between two searches for deliveries that other servers have left. */
const POLL = 15_000
/** Milliseconds for which the times of retries are remembered, in steps. A poll finds later ones. */
const SOON = 10 * POLL
const STEP = 100

export type WorkerOptions = Pick<TurnOptions, 'tables' | 'policy' | 'findUser'>

export type Worker = ReturnType<typeof createWorker>

export function createWorker(options: WorkerOptions) {
  const queue = createQueue(options.tables)
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Infinity
  let rounds: Rounds | undefined
  /** The times of retries. There is one timer, and a commit can need it earlier. */
  const retries = new Set<number>()

  const roundsOf = (api: Api, event: unknown, onRetry: (at: Date) => void) =>
    createRounds({ ...options, queue, api, event, onRetry, isStopped: () => isStopped })

  /** Looks for deliveries at a time, and regularly after that, in a process that goes on. */
  function wakeAt(at: Date, api: Api): void {
    const time = at.getTime()
    const delay = time - Date.now()
    if (delay > 0 && delay < SOON) retries.add(Math.ceil(time / STEP) * STEP)
    schedule(time, api)
  }

  function schedule(time: number, api: Api): void {
    if (isStopped || time >= timerAt) return
    clearTimeout(timer)
    timerAt = time
    timer = setTimeout(() => {
      timerAt = Infinity
      rounds ??= roundsOf(api, undefined, retry => wakeAt(retry, api))
      rounds.ask()
      const now = Date.now()
      for (const retry of retries) if (retry <= now) retries.delete(retry)
      schedule(Math.min(now + POLL, ...retries), api)
    }, Math.max(0, time - Date.now()))
    timer.unref?.()
  }

  return {
    queue,
    wakeAt,
    /** Delivers with the database of a request or a task, on platforms that end afterwards. Nothing is shared with others there. */
    async run(api: Api, event: unknown): Promise<void> {
      const own = roundsOf(api, event, () => {})
      own.ask()
      await own.ended()
    },
    stop(): void {
      isStopped = true
      clearTimeout(timer)
    },
    /** Waits for the attempts that have begun. */
    ended: async (): Promise<void> => rounds?.ended(),
  }
}
