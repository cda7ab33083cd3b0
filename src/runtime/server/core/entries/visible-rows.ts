/** Loads rows for custom code. It applies the same row scope as the generated routes. */
import type { Resource } from '../../schema/model'
import { callOn, type CallerContext } from './call'
import { notFound } from '../error'
import { loadVisible } from '../write/check-visible'
import { decoder, type RecordValues } from '../read/rows/decode'
import { readRows } from '../read/rows/rows'
import { allFields } from '../access/fields'
import { toId, toKey } from '../../schema/record-id'
import type { ReadPlan } from '../plan/read-plan'
import { inTuples } from '../sql/list/index'
import { within, type Plan } from '../access/row-scope'

/**
 * Loads whole rows by their ids, in the order of the ids. The rows contain hidden columns.
 * @throws 404 for a row that the caller cannot see, 403 for a row that the caller can read but not use for the operation.
 */
export async function loadVisibleRows(
  ctx: CallerContext,
  name: string,
  ids: readonly (string | number)[],
): Promise<readonly RecordValues[]> {
  if (ids.length === 0) return []
  const call = callOn(ctx, name)
  const { resource } = call
  const keys = ids.map((id) => {
    const key = toKey(resource, String(id))
    if (!key) throw notFound()
    return key
  })
  const { plan, targets } = await loadVisible(call, resource, keys, ctx.operation)
  const failed = targets.find(({ error }) => error !== undefined)
  if (failed) throw failed.error
  const encoded = keys.map(key => key.map((value, index) => resource.primaryKey[index]!.encode(value)))
  const read = within<Plan, ReadPlan>(plan, {
    selection: allFields(resource),
    where: [inTuples(call.engine, resource.primaryKey, encoded)],
    order: resource.primaryKey.map(field => ({ field, descending: false })),
    count: false,
  })
  const { columns, rows } = await readRows(read, { cursor: true }, call)
  const found = new Map(rows.map(decoder(columns)).map(row => [toId(resource, keyOf(resource, row)), row]))
  return keys.map((key) => {
    const row = found.get(toId(resource, key))
    if (!row) throw notFound()
    return row
  })
}

const keyOf = ({ primaryKey }: Resource, row: RecordValues) => primaryKey.map(field => row[field.name])
