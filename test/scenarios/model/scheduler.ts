/** Runs tasks in steps, one at a time. A seed decides the order, so the same seed runs them in the same order again. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Timers below this many milliseconds are steps, too: they fire when they are chosen, not after their time. */
const SIMULATED_MS = 1_000
/** How long a task that takes no step is waited for. It waits for another task then, if there is one. */
const IDLE_MS = { others: 500, none: 10_000 }

interface Parked {
  readonly task: number
  readonly name: string
  readonly go: () => void
}

export class Scheduler {
  /** What ran, in this order: `<task> <step>`. */
  readonly trace: string[] = []
  private readonly storage = new AsyncLocalStorage<number>()
  private readonly parked: Parked[] = []
  /** How often a task took a step or ended. */
  private events = 0

  /** @param choose returns the number of the step that runs next, below `count` */
  constructor(private readonly choose: (count: number) => number) {}

  /** The task that is running, or `undefined` outside of tasks. */
  get task(): number | undefined {
    return this.storage.getStore()
  }

  /** Waits until this step is chosen. Outside of tasks, it does not wait. */
  step(name: string): Promise<void> {
    const { task } = this
    if (task === undefined) return Promise.resolve()
    return new Promise((go) => {
      this.parked.push({ task, name, go })
      this.events++
    })
  }

  /** Runs all tasks to their end. */
  async run<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
    let running = tasks.length
    const restore = this.simulateTimers()
    try {
      const results = tasks.map((task, index) => this.storage.run(index, async () => {
        await this.step('start')
        return task().finally(() => {
          running--
          this.events++
        })
      }))
      while (running > 0) {
        const [next] = this.parked.splice(this.choose(this.parked.length), 1)
        if (!next) throw new Error(`No task takes a step, and ${running} have not ended:\n${this.trace.join('\n')}`)
        this.trace.push(`${next.task} ${next.name}`)
        next.go()
        await this.untilIdle(next.task)
      }
      return await Promise.all(results)
    }
    finally {
      restore()
      // What a request leaves for the time after its response.
      for (const { go } of this.parked.splice(0)) go()
    }
  }

  /** Waits until the task that runs has taken a step, has ended, or waits for another task. */
  private async untilIdle(task: number): Promise<void> {
    const started = performance.now()
    const before = this.events
    const idle = this.parked.length > 0 ? IDLE_MS.others : IDLE_MS.none
    // A task with two steps at once waits for the other one.
    const isStill = this.parked.some(parked => parked.task === task)
    let last: number
    do {
      last = this.events
      await new Promise(setImmediate)
    } while (this.events !== last || (!isStill && this.events === before && performance.now() - started < idle))
  }

  private simulateTimers(): () => void {
    const real = globalThis.setTimeout
    const simulated = (run: () => void, ms = 0) => {
      if (this.task === undefined || ms >= SIMULATED_MS) return real(run, ms)
      void this.step('timer').then(run)
      return undefined
    }
    globalThis.setTimeout = simulated as typeof setTimeout
    return () => void (globalThis.setTimeout = real)
  }
}
