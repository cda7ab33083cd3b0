/** The operations of a create: check the references, then insert the rows. A single row can need only one statement for both. */
import { groupBy } from '../../../shared/group-by'
import { isScalar } from '../../engines/driver-scalar'
import type { Call } from '../request/session'
import type { WritePlan } from '../plan/write'
import { inTuples } from '../sql/list/index'
import { reportRows, withReported } from '../commit/changes/report'
import { insertedRows, rowsWhere, type RowSource } from '../commit/changes/source'
import { changedTable } from '../commit/changes/table'
import { insertStatements, type NewRow } from '../commit/insert'
import { decoder } from '../read/rows/decode'
import type { BuildOperations } from './build-operations'
import { predictCreated } from './predict-result'
import { referenceConditions, referenceOperations } from './reference-operations'
import { returnedFields } from './returned-rows'
import { createValues } from './server-values'
import { writableValues } from './writable-values'

/** @param reported the kind of change that plugins receive */
const insertAs = (reported: 'create' | 'link'): BuildOperations => (plan, items, written, call, time) => {
  const { resource } = plan
  const rows = items.map(item => ({ item, values: createValues(plan, writableValues(plan, item), call, time) }))
  // Rows that set the same columns go into one statement.
  const groups = rows.length === 1 ? [rows] : [...groupBy(rows, createColumnsKey()).values()]
  const returned = returnedFields(plan)
  const columns = withReported(call, resource, returned)
  const decode = decoder(columns, returned)
  const references = referenceConditions(items, call)
  const operations = references ? [] : referenceOperations(items, call)
  for (const group of groups) {
    for (const { statement, rows: inserted } of insertStatements(call, resource, group, columns, { where: references?.where })) {
      operations.push({
        statement,
        item: inserted.length === 1 ? inserted[0]!.item.index : undefined,
        ...references && references.where.length > 0 && { expectation: 'reference', field: references.field },
        read: ({ rows }) => inserted.forEach(({ item }, index) => written.set(item.index, { record: decode(rows[index]!) })),
        predict: () => inserted.forEach(({ item, values }) => written.set(item.index, { record: predictCreated(resource, values) })),
        changes: reportRows(call, resource, reported, columns, 'after', () => insertedSource(plan, inserted, call)),
      })
    }
  }
  return operations
}

export const createOperations = insertAs('create')

/** Inserts the links of new records. */
export const insertLinks = insertAs('link')

/** Returns a function that names the columns a row sets. Rows that set them in another order get the same text. */
function createColumnsKey(): (row: NewRow) => string {
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
function insertedSource({ resource }: WritePlan, rows: readonly NewRow[], call: Call): RowSource {
  const { primaryKey } = resource
  const keys = rows.map(({ values }) => primaryKey.map(field => field.encode(values[field.name])))
  const table = changedTable(call, resource)
  return keys.flat().every(value => value !== null && isScalar(value))
    ? rowsWhere(table, [inTuples(call.engine, primaryKey, keys)])
    : insertedRows(table, rows.length)
}
