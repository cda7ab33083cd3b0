/** Plans the part of plugins in a commit: asks them for statements, and adds these statements to the commit. */
import type { CommitEntry } from '../../../../engines/engine'
import type { Call } from '../../../context'
import { groupSets, requestStatements } from './changed-rows'
import { derivedEntries } from './derived'
import { hasParticipants, type ReportingOperation } from './report'

/**
 * Returns the entries to append to the operations of a commit.
 * @throws The error with which a plugin refuses the commit.
 */
export async function planParticipation(operations: readonly ReportingOperation[], call: Call): Promise<readonly CommitEntry[]> {
  if (!hasParticipants(call)) return []
  const { sets, setOf } = groupSets(operations)
  if (sets.length === 0) return []
  const requested = await requestStatements(sets, call)
  return requested.length === 0 ? [] : derivedEntries(operations, sets, setOf, requested, call)
}
