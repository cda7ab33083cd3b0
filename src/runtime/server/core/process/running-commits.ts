/** The commits that are running, for code that has to wait until those have ended that began before something. */
import { always, type Awaitable } from '../awaitable'
import { memoized } from '../memoized'

/** The commits that began in a span of time and have not ended. */
interface Span {
  running: number
  end?: () => void
}

interface Commits {
  current: Span
  /** Resolves when the commits of earlier spans have ended. */
  earlier: Promise<unknown>
}

const commitsOf = memoized((_: object): Commits => ({ current: { running: 0 }, earlier: Promise.resolve() }))

/** Runs an attempt of a commit. */
export function runCommit<T>(api: object, run: () => Awaitable<T>): Awaitable<T> {
  const { current } = commitsOf(api)
  current.running++
  return always(run, () => {
    if (--current.running === 0) current.end?.()
  })
}

/** Resolves when all commits have ended that are running now. Only an API whose plugins follow rows counts its commits. */
export async function commitsEnded(api: object): Promise<void> {
  const commits = commitsOf(api)
  const { current, earlier } = commits
  commits.current = { running: 0 }
  const ended = current.running === 0 ? undefined : new Promise<void>(resolve => current.end = resolve)
  // Without its values, each of which would contain those before.
  commits.earlier = Promise.all([earlier, ended]).then(() => {})
  await commits.earlier
}
