/** One at a time: for connections that all requests share, where a transaction would take in what others send meanwhile. */
export interface ReadWriteLock {
  /** Runs alone: after everything that was asked for earlier, and before everything later. */
  readonly exclusive: <T>(run: () => Promise<T>) => Promise<T>
  /** Runs beside others, but not beside what runs alone. */
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

/** Connections of a pool stand in nobody's way. */
export const NO_LOCK: ReadWriteLock = { exclusive: run => run(), shared: run => run() }
