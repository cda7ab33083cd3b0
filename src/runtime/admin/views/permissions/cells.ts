/** What the caller can do with a resource, as the cells of a table show it. */
import type { DescribedCapabilities, DescribedResource } from '../../../shared/types/description'

export const CAPABILITIES = [
  'canRead', 'canCreate', 'canUpdate', 'canDelete', 'canAggregate', 'canViewDeleted', 'canRestore', 'canPurge',
] as const satisfies readonly (keyof DescribedCapabilities)[]

export type Capability = typeof CAPABILITIES[number]

/** `limited`: a rule decides about each record. `absent`: the resource does not have it, whoever asks. */
export const CELL_STATES = ['allowed', 'limited', 'refused', 'absent'] as const
export type CellState = typeof CELL_STATES[number]

const OF_TRASH: ReadonlySet<Capability> = new Set(['canViewDeleted', 'canRestore', 'canPurge'])
const WRITES: ReadonlySet<Capability> = new Set(['canCreate', 'canUpdate', 'canDelete', 'canRestore', 'canPurge'])

export function cellOf(
  { capabilities, trash, readOnly }: Pick<DescribedResource, 'capabilities' | 'trash' | 'readOnly'>, capability: Capability,
  limited: readonly string[] = [],
): CellState {
  if (capabilities[capability]) return limited.includes(capability) ? 'limited' : 'allowed'
  if ((trash === undefined && OF_TRASH.has(capability)) || (readOnly && WRITES.has(capability))) return 'absent'
  return 'refused'
}
