/** The operations of a create: check the references, then insert the rows. */
import { groupBy } from '../../../../shared/group-by'
import { isScalar } from '../../../engines/scalar'
import type { Call } from '../../context'
import type { WritePlan } from '../../plan/write'
import { inTuples } from '../../sql/list/index'
import { reportRows, withReported } from '../commit/changes/report'
import { insertedRows, rowsWhere, type RowSource } from '../commit/changes/source'
import { changedTable } from '../commit/changes/table'
import type { WriteOperation } from '../commit/operation'
import { insertStatements } from '../commit/insert'
import { decoder, type RecordValues } from '../rows/decode'
import type { BuildOperations } from './build-operations'
import { predictCreated } from './predict'
import { referenceOperations } from './reference-operations'
import { returnedFields } from './returned'
import { createValues } from './server-values'
import { writableValues } from './writable-values'

export const createOperations: BuildOperations = (plan, items, written, call, time) => {
  const rows = items.map(item => ({ item, values: createValues(plan, writableValues(plan, item), call, time) }))
  // Rows that set the same columns go into one statement.
  const groups = groupBy(rows, createColumnsKey())
  const returned = returnedFields(plan)
  const columns = withReported(call, plan.resource, returned)
  const decode = decoder(columns, returned)
  const inserts = [...groups.values()].flatMap((group) => {
    const itemOf = new Map(group.map(({ item, values }) => [values, item]))
    const values = group.map(({ values }) => values)
    return insertStatements(call, plan.resource, values, columns).map(({ statement, rows: inserted }): WriteOperation => ({
      statement,
      ...(inserted.length === 1 && { item: itemOf.get(inserted[0]!)!.index }),
      read: ({ rows }) =>
        inserted.forEach((values, index) => written.set(itemOf.get(values)!.index, { record: decode(rows[index]!) })),
      predict: () => inserted.forEach(values =>
        written.set(itemOf.get(values)!.index, { record: predictCreated(plan.resource, values) })),
      changes: reportRows(call, plan.resource, 'create', columns, 'after', () => insertedSource(plan, inserted, call)),
    }))
  })
  return [...referenceOperations(items, call), ...inserts]
}

/** Returns a function that names the columns a row sets. Rows that set them in another order get the same text. */
function createColumnsKey(): (row: { readonly values: RecordValues }) => string {
  const known = new Map<string, string>()
  return ({ values }) => {
    const names = Object.keys(values)
    const given = names.join()
    let key = known.get(given)
    if (key === undefined) known.set(given, key = names.sort().join())
    return key
  }
}

/** Selects inserted rows by their keys or, if the database generates the keys, as the rows that were inserted last. */
function insertedSource({ resource }: WritePlan, rows: readonly RecordValues[], call: Call): RowSource {
  const { primaryKey } = resource
  const keys = rows.map(row => primaryKey.map(field => field.encode(row[field.name])))
  const table = changedTable(call, resource)
  return keys.flat().every(value => value !== null && isScalar(value))
    ? rowsWhere(table, [inTuples(call.engine, primaryKey, keys)])
    : insertedRows(table, rows.length)
}
