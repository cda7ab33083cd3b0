/**
 * Predicts the records of a dry run on an engine that returns nothing from a batch that fails. Values that only the database knows are
 * absent: generated keys and columns, and the results of SQL.
 */
import { is, SQL } from 'drizzle-orm'
import type { Resource } from '../../schema/model'
import type { Scoped } from '../access/row-scope'
import type { Call } from '../request/session'
import type { WritePlan } from '../plan/write'
import { tupleKey } from '../sql/tuple-key'
import { selectStatement } from '../commit/select'
import { decoder, valuesAt, type RecordValues } from '../read/rows/decode'
import type { Item, WrittenItem } from './items'
import { returnedFields } from './returned-rows'
import { columnDefaults } from './server-values'
import { keysClause } from './targets'

/** Returns the record that an insert of these values would store. */
export const predictCreated = (resource: Resource, values: RecordValues): RecordValues =>
  storedValues(resource, { ...columnDefaults(resource), ...values })

/**
 * Reads the rows of the items in one statement, and changes them as their updates would.
 * @param assigned the values that the update of an item sets. It contains no entry for an item without changes.
 */
export async function predictUpdated(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  assigned: ReadonlyMap<Item, RecordValues>,
  written: Map<number, WrittenItem>,
  call: Call,
): Promise<void> {
  const { resource } = plan
  const selection = returnedFields(plan)
  // An earlier item of the write makes the row of a deferred item.
  const existing = items.filter(({ isDeferred }) => !isDeferred)
  const reading = () => call.engine.query(selectStatement(call, resource, [keysClause(plan, existing, call)], selection))
  const rows = existing.length > 0 ? await reading() : []
  const keyOf = valuesAt(selection, resource.primaryKey)
  const decode = decoder(selection)
  const found = new Map(rows.map(row => [tupleKey(keyOf(row)), row]))
  for (const item of items) {
    if (item.isDeferred) written.set(item.index, { record: storedValues(resource, assigned.get(item) ?? {}) })
  }
  for (const item of existing) {
    const row = found.get(tupleKey(item.key!.map((value, index) => resource.primaryKey[index]!.encode(value))))
    if (row) written.set(item.index, { record: changed(resource, decode(row), assigned.get(item)) })
  }
}

function changed(resource: Resource, row: RecordValues, assigned: RecordValues | undefined): RecordValues {
  if (!assigned) return row
  const isKnown = (name: string) => !Object.hasOwn(assigned, name) && !resource.fields.get(name)!.generated
  return { ...Object.fromEntries(Object.entries(row).filter(([name]) => isKnown(name))), ...storedValues(resource, assigned) }
}

/** Converts values to the form in which a read returns them. Leaves out SQL, because only the database computes it. */
function storedValues({ fields }: Resource, values: RecordValues): RecordValues {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => {
    const field = fields.get(name)
    const encoded = field?.encode(value)
    return !field?.stored || is(encoded, SQL) ? [] : [[name, field.decode ? field.decode(encoded) : encoded]]
  }))
}
