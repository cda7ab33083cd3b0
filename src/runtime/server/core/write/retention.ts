/** Purges rows whose retention time in the trash has ended. A scheduled task runs the purge, so there is no caller and no row scope. */
import { LIMITS } from '../../../shared/limits'
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import { itemContext } from '../request/hooks'
import type { Key } from '../../schema/record-id'
import { after } from '../sql/keyset'
import type { ReadPlan } from '../plan/read-plan'
import type { WritePlan } from '../plan/write'
import { everyRow, within, type Scoped } from '../access/row-scope'
import { CommitFailed } from '../commit/failure'
import { decoder, valuesAt } from '../read/rows/decode'
import { readRows } from '../read/rows/rows'
import type { Item } from './items'
import { serverTime } from './server-values'
import { value, where, type Where } from '../sql/where'
import { commitParts, ITEMS } from './commit-parts'
import { toPart } from './parts'

/**
 * Reads and purges the rows in batches. A row that other rows still reference stays in the trash, and a warning is logged.
 * @returns The number of purged rows.
 */
export async function purgeExpired(call: Call, before: Date): Promise<number> {
  const { resource } = call
  const plan = everyRow<WritePlan>({
    resource,
    trash: 'trashed',
    kind: 'purge',
    items: [],
    bulk: true,
    atomic: true,
    selection: keyFields(resource),
  })
  const order = resource.primaryKey.map(field => ({ field, descending: false }))
  const where = [deletedBefore(call, before)]
  const read = within<WritePlan, ReadPlan>(plan, { selection: keyFields(resource), where, order, count: false })
  let start: readonly Where[] = []
  let purged = 0
  for (;;) {
    const { columns, rows } = await readRows(read, { start, limit: LIMITS.scanBatch }, call)
    if (rows.length === 0) return purged
    const decode = decoder(columns)
    const keys = rows.map(row => resource.primaryKey.map(field => decode(row)[field.name]))
    purged += await purge(plan, keys, call)
    start = [after(call.engine, order, valuesAt(columns, resource.primaryKey)(rows.at(-1)!))]
  }
}

/** `deleted_at < ?` */
function deletedBefore({ resource }: Call, before: Date): Where {
  const field = resource.roles.deletedAt!
  return where`${field.column} < ${value(field.encode(serverTime(field, before)))}`
}

/** Purges the rows in one commit. If that commit fails, it purges each row in its own commit. */
async function purge(plan: Scoped<WritePlan>, keys: readonly Key[], call: Call): Promise<number> {
  const items = keys.map((key, index): Item => ({ index, key, sent: [], values: {}, original: {}, ctx: itemContext(call) }))
  try {
    await commitParts([toPart(plan, call, items)], { rules: ITEMS, request: { plan, call }, time: new Date() })
    return items.length
  }
  catch (error) {
    if (!(error instanceof CommitFailed)) throw error
    if (items.length === 1) {
      console.warn(`[auto-api] An expired row of \`${plan.resource.name}\` could not be purged and stays in the trash.`, error.reason)
      return 0
    }
    let purged = 0
    for (const key of keys) purged += await purge(plan, [key], call)
    return purged
  }
}
