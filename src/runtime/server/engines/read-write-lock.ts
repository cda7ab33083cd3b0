/** A read-write lock for a connection that requests share: a transaction must not include the statements of other requests. */
export interface ReadWriteLock {
  /** Runs alone: after all earlier calls, and before all later ones. */
  readonly exclusive: <T>(run: () => Promise<T>) => Promise<T>
  /** Runs at the same time as other shared calls, never with an exclusive one. */
  readonly shared: <T>(run: () => Promise<T>) => Promise<T>
}

export function createReadWriteLock(): ReadWriteLock {
  let last: Promise<unknown> = Promise.resolve()
  let readers: Promise<unknown>[] = []
  const settled = (promise: Promise<unknown>) => promise.then(() => {}, () => {})
  return {
    exclusive(run) {
      const before = [last, ...readers]
      readers = []
      const done = Promise.all(before).then(run)
      last = settled(done)
      return done
    },
    shared(run) {
      const done = last.then(run)
      const quiet: Promise<unknown> = settled(done).then(() => {
        readers = readers.filter(reader => reader !== quiet)
      })
      readers.push(quiet)
      return done
    },
  }
}

/** Each transaction has its own connection of a pool. */
export const NO_LOCK: ReadWriteLock = { exclusive: run => run(), shared: run => run() }
