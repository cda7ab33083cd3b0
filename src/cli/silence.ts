/** Keeps the output of an app and of its modules out of the output of a command. */

type Write = NodeJS.WriteStream['write']

export interface Silence {
  /** Writes lines of the command. If the function throws, the silence ends, so that the error is printed. */
  readonly speak: (write: () => void) => void
}

/**
 * Discards the output of this process. Modules can ignore the log level of Nuxt, and can write long after Nuxt is closed, for example while
 * they still wait for a server. So the silence lasts until the process ends.
 */
export function silence(): Silence {
  const streams = [process.stdout, process.stderr].map(stream => ({ stream, write: stream.write }))
  const begin = () => streams.forEach(({ stream }) => stream.write = discard)
  begin()
  return {
    speak(write) {
      for (const { stream, write } of streams) stream.write = write
      write()
      begin()
    },
  }
}

const discard: Write = (_text: unknown, encoding?: unknown, done?: unknown) => {
  const callback = typeof encoding === 'function' ? encoding : done
  if (typeof callback === 'function') process.nextTick(callback as () => void)
  return true
}
