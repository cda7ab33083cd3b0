/** Reads the written record back in the statement that writes it. */
import type { Row } from '../../engines/engine'
import type { Resource } from '../../schema/model'
import { select, withKey, type Selection } from '../access/fields'
import type { WritePlan } from '../plan/write'
import type { WriteOperation } from '../commit/operation'
import type { Returning } from '../commit/select'
import type { RecordValues } from '../read/rows/decode'
import type { Item, WrittenItem } from './items'

/** Returns the fields that the caller can read, the fields of the entity tag, and the primary key, unless the plan needs fewer. */
export function returnedFields({ resource, selection, returned, tagged = selection }: WritePlan): Selection {
  return returned ?? withKey(resource, tagged === selection ? selection : union(resource, selection, tagged))
}

/** Rules over `ctx.operation` can let a caller read other fields after an update than in a get. */
function union(resource: Resource, a: Selection, b: Selection): Selection {
  return select(resource, ({ name }) => a.byName.has(name) || b.byName.has(name))
}

/**
 * Stores the row that the statement returns as the result of the item. The statement must return exactly one row.
 * @param decode creates the record of the result from the row. @default all columns that the statement returns
 */
export function returningRow(
  statement: Returning,
  item: Item,
  written: Map<number, WrittenItem>,
  decode: (row: Row) => RecordValues = statement.decode,
): WriteOperation {
  return {
    statement,
    expectation: 'row',
    item: item.index,
    read: ({ rows }) => written.set(item.index, { record: decode(rows[0]!) }),
  }
}
