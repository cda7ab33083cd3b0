/** Lets a plugin keep the totals of lists. A total depends on the SQL of its count, on its values, and on the tables that it reads. */
import type { Statement } from '../../engines/engine'
import type { Session } from '../request/session'

/**
 * Returns a total that is up to date, or that of `count`.
 * @param reads the resources and tables that the count reads. Absent if a plugin changes one of them without reporting it.
 */
export type KnownTotal = (statement: Statement, reads: readonly string[] | undefined, count: () => Promise<number>) => Promise<number>

const KEY = 'known totals'

/** From now on, the lists of the session ask `find` for their exact totals. */
export function useKnownTotals({ memo }: Session, find: KnownTotal): void {
  memo.set(KEY, find)
}

export const knownTotals = ({ memo }: Session) => memo.get(KEY) as KnownTotal | undefined
