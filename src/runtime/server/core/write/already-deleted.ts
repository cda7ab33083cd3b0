/**
 * In a batch delete, the cascade of an earlier item can delete the row of a later item. This module finds the result of that later item.
 */
import type { Call } from '../request/session'
import { select } from '../access/fields'
import type { ReadPlan } from '../plan/read-plan'
import type { WritePlan } from '../plan/write'
import { applyScope, within, type Plan, type Scoped } from '../access/row-scope'
import { decoder } from '../read/rows/decode'
import { readRows } from '../read/rows/rows'
import type { Item, WrittenItem } from './items'
import { keysClause } from './targets'

/**
 * @returns The result of the item, or undefined if its row still exists or another write deleted the row. A table without `deletionId` does
 * not tell these writes apart: there, a deleted row counts as deleted by this batch.
 */
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
  const scoped = await applyScope<Plan>(call, { resource, trash: deletedAt ? 'trashed' : 'both' })
  const where = [keysClause(plan, [item], call)]
  const read = within<Plan, ReadPlan>(scoped, { selection, where, order: [], count: false })
  const { columns, rows: [row] } = await readRows(read, { cursor: true }, call)
  if (!deletedAt) return row ? undefined : {}
  const id = row && deletionId && decoder(columns)(row)[deletionId.name]
  if (!row || !deletionId) return row && {}
  return [...written.values()].some(other => other.deletionId === id) ? { deletionId: String(id) } : undefined
}
