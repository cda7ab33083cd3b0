/** A row of a batch that an earlier item's cascade took along: it is deleted, as it was asked to be. */
import type { Call } from '../../context'
import { select } from '../../access/fields'
import type { ReadPlan } from '../../plan/read-plan'
import type { WritePlan } from '../../plan/write'
import { applyScope, within, type Plan, type Scoped } from '../../access/row-scope'
import type { Item, WrittenItem } from './items'
import { keysClause } from './targets'
import { decoder } from '../rows/decode'
import { readRows } from '../rows/rows'

/** What became of a row that was there when the batch began and cannot be deleted any more: nothing, if somebody else took it. */
export async function findAlreadyDeleted(
  plan: Scoped<WritePlan>,
  item: Item,
  written: ReadonlyMap<number, WrittenItem>,
  call: Call,
): Promise<WrittenItem | undefined> {
  if (plan.kind !== 'delete' || written.size === 0) return undefined
  const { resource } = plan
  const { deletedAt, deletionId } = resource.roles
  const selection = select(resource, field => field === deletionId || resource.primaryKey.includes(field))
  const gone = await applyScope<Plan>(call, { resource, trash: deletedAt ? 'trashed' : 'both' })
  const {
    columns,
    rows: [row],
  } = await readRows(
    within<Plan, ReadPlan>(gone, { selection, where: [keysClause(plan, [item], call)], order: [], count: false }),
    { cursor: true },
    call,
  )
  if (!deletedAt) return row ? undefined : {}
  const id = row && deletionId && decoder(columns)(row)[deletionId.name]
  if (!row || !deletionId) return row && {}
  return [...written.values()].some(other => other.deletionId === id) ? { deletionId: String(id) } : undefined
}
