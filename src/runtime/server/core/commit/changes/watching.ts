/**
 * Whether someone follows the rows that a commit changes. Plugins answer this once per commit, so that all statements of the commit read
 * the same columns, although streams open and close meanwhile.
 */
import type { Awaitable } from '../../awaitable'
import type { Watcher } from '../../extensions/watchers'
import { runCommit } from '../../process/running-commits'
import type { Call } from '../../request/session'
import type { ChangedTable } from './table'

interface Watching {
  /** The watchers that someone uses. */
  readonly watchers: readonly Watcher[]
  readonly tables: Map<string, boolean>
}

const KEY = 'watching'

/** Runs an attempt of a commit. It asks the watchers again. */
export function watchCommit<T>({ api, memo }: Pick<Call, 'api' | 'memo'>, run: () => Awaitable<T>): Awaitable<T> {
  if (api.listeners.watch.length === 0) return run()
  memo.delete(KEY)
  return runCommit(api, run)
}

/** A batch returns no rows, so nobody can follow the rows of its engine. */
function watchingOf({ api: { listeners }, memo, engine }: Call): Watching | undefined {
  if (listeners.watch.length === 0 || !engine.supportsFollowUp) return undefined
  const known = memo.get(KEY) as Watching | undefined
  if (known) return known
  const watching: Watching = { watchers: listeners.watch.filter(({ isActive }) => isActive()), tables: new Map() }
  memo.set(KEY, watching)
  return watching
}

/** Returns the watchers that someone uses. */
export const watchersOf = (call: Call): readonly Watcher[] => watchingOf(call)?.watchers ?? NONE

const NONE: readonly Watcher[] = Object.freeze([])

export const isWatching = (call: Call): boolean => watchersOf(call).length > 0

/** Whether someone follows the rows of the table. Then a commit reads whole rows of it, before and after the change. */
export function isWatched(call: Call, { name, resource }: Pick<ChangedTable, 'name' | 'resource'>): boolean {
  const watching = watchingOf(call)
  if (!watching || watching.watchers.length === 0) return false
  let watched = watching.tables.get(name)
  if (watched === undefined) {
    watched = watching.watchers.some(({ watches }) => watches({ table: name, resource }))
    watching.tables.set(name, watched)
  }
  return watched
}
