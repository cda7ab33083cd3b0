/** Plans the part of plugins in a commit: asks them for statements, and adds these statements to the commit. */
import type { Awaitable } from '../../awaitable'
import type { CommitEntry, WriteStatement } from '../../../engines/engine'
import type { Call } from '../../request/session'
import { placeInsertions } from './batch/entries'
import { isFound, readAhead } from './batch/preloaded-rows'
import { groupSets, requestStatements } from './changed-rows'
import { derivedEntries } from './derived'
import { hasParticipants, needsSources, type ReportingOperation, type Snapshot } from './report'

/** An entry of a commit, and the operation that it belongs to. */
export interface PlannedEntry {
  readonly entry: CommitEntry
  /** The index of the operation. It is absent for statements of plugins. */
  readonly operation?: number
  /** The entry fails if a row has changed since it was read before the commit. */
  readonly checksRead?: true
  /** The rows that the entry reads before the commit changes them. */
  readonly snapshot?: Snapshot
}

type Operation = ReportingOperation & { readonly statement: WriteStatement }

const withoutFound = ({ snapshot, changes, step }: Operation): ReportingOperation =>
  ({ ...snapshot && { snapshot }, ...step !== undefined && { step }, ...changes && !isFound(changes) && { changes } })

/**
 * Adds the statements of plugins to the operations of a commit. A promise only if plugins take part in commits.
 * @param isGroup whether the operations belong to several parts, which can change the same rows
 * @throws The error with which a plugin refuses the commit.
 */
export function planEntries(
  operations: readonly Operation[], call: Call, isGroup = false,
): Awaitable<readonly PlannedEntry[]> {
  const planned = operations.map(({ statement }, operation): PlannedEntry => ({ entry: statement, operation }))
  return hasParticipants(call) ? addStatements(planned, operations, call, isGroup) : planned
}

async function addStatements(
  planned: readonly PlannedEntry[], operations: readonly Operation[], call: Call, isGroup: boolean,
): Promise<readonly PlannedEntry[]> {
  const { sets, setOf } = groupSets(operations)
  const requested = sets.length === 0 ? [] : await requestStatements(sets, call)
  if (requested.length === 0 && !needsSources(call)) return planned
  if (!needsSources(call)) return [...planned, ...derivedEntries(operations, sets, setOf, requested, call).map(entry => ({ entry }))]
  const ahead = isGroup && requested.some(request => 'target' in request) ? await readAhead(operations, setOf, requested, call) : undefined
  const placed = placeInsertions(ahead ? operations.map(withoutFound) : operations, setOf, requested, call)
  return [
    ...ahead?.checks.map((entry): PlannedEntry => ({ entry, checksRead: true })) ?? [],
    ...operations.flatMap(({ snapshot }, index): PlannedEntry[] => [
      ...placed[index]!.before.map(entry => ({ entry })),
      // The insertions replace a statement that only reads rows for plugins.
      ...snapshot ? [] : [planned[index]!],
      ...placed[index]!.after.map(entry => ({ entry })),
    ]),
    ...ahead?.insertions.map(entry => ({ entry })) ?? [],
    ...requested.flatMap(request => 'build' in request ? [{ entry: request }] : []),
  ]
}
