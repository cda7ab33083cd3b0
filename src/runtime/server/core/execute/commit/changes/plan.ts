/** Plans the part of plugins in a commit: asks them for statements, and adds these statements to the commit. */
import type { CommitEntry, WriteStatement } from '../../../../engines/engine'
import type { Call } from '../../../context'
import { placeInsertions } from './batch/entries'
import { groupSets, requestStatements } from './changed-rows'
import { derivedEntries } from './derived'
import { hasParticipants, needsSources, type ReportingOperation } from './report'

/** An entry of a commit, and the operation that it belongs to. */
export interface PlannedEntry {
  readonly entry: CommitEntry
  /** The index of the operation. It is absent for statements of plugins. */
  readonly operation?: number
}

type Operation = ReportingOperation & { readonly statement: WriteStatement }

/**
 * Adds the statements of plugins to the operations of a commit.
 * @throws The error with which a plugin refuses the commit.
 */
export async function planEntries(operations: readonly Operation[], call: Call): Promise<readonly PlannedEntry[]> {
  const planned = operations.map(({ statement }, operation): PlannedEntry => ({ entry: statement, operation }))
  if (!hasParticipants(call)) return planned
  const { sets, setOf } = groupSets(operations)
  const requested = sets.length === 0 ? [] : await requestStatements(sets, call)
  if (requested.length === 0 && !needsSources(call)) return planned
  if (!needsSources(call)) return [...planned, ...derivedEntries(operations, sets, setOf, requested, call).map(entry => ({ entry }))]
  const placed = placeInsertions(operations, setOf, requested, call)
  return [
    ...operations.flatMap(({ snapshot }, index): PlannedEntry[] => [
      ...placed[index]!.before.map(entry => ({ entry })),
      // The insertions replace a statement that only reads rows for plugins.
      ...snapshot ? [] : [planned[index]!],
      ...placed[index]!.after.map(entry => ({ entry })),
    ]),
    ...requested.flatMap(request => 'build' in request ? [{ entry: request }] : []),
  ]
}
