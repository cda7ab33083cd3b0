/** Finds rows by ids, and the ids of rows. */
import type { Resource } from '../../schema/model'
import { toId, toKey } from '../../schema/record-id'
import type { Selection } from '../access/fields'
import { valuesAt } from '../read/rows/decode'

/** Returns the driver values of the keys. Ids that no row can have are left out. */
export function keysOfIds(resource: Resource, ids: readonly string[]): readonly (readonly unknown[])[] {
  return ids.flatMap((id) => {
    const key = toKey(resource, id)
    return key ? [key.map((value, index) => resource.primaryKey[index]!.encode(value))] : []
  })
}

/** Returns a function that reads the id of a row. */
export function idReader(resource: Resource, columns: Selection): (row: readonly unknown[]) => string {
  const { primaryKey } = resource
  const keyOf = valuesAt(columns, primaryKey)
  return row => toId(resource, keyOf(row).map((value, index) => primaryKey[index]!.decode?.(value) ?? value))
}
