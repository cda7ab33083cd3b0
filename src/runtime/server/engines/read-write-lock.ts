/** A read-write lock for a connection that requests share. It keeps statements of other requests out of a transaction. */
export interface ReadWriteLock {
  /** Runs a function alone: after all earlier calls, and before all later calls. */
  readonly exclusive: <T>(run: () => Promise<T>) => Promise<T>
  /** Runs a function at the same time as other shared calls, but never during an exclusive call. */
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
      const finished: Promise<unknown> = settled(done).then(() => {
        readers = readers.filter(reader => reader !== finished)
      })
      readers.push(finished)
      return done
    },
  }
}

/** A pool needs no lock, because each transaction uses a connection of its own. */
export const NO_LOCK: ReadWriteLock = { exclusive: run => run(), shared: run => run() }
