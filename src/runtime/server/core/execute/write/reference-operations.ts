/** Checks the references of a write once more in its commit: the rows must still exist and be visible. */
import { groupBy } from '../../../../shared/group-by'
import type { Call } from '../../context'
import { keyFields } from '../../access/fields'
import { inUniqueKeys } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { certified } from '../commit/certify'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import type { Item, Reference } from './items'
import { rowsUnchanged } from './row-clauses'

/** Builds one statement for each foreign key. It checks the references of all items. */
export function referenceOperations(items: readonly Item[], call: Call): WriteOperation[] {
  const references: { readonly item: Item, readonly reference: Reference }[] = []
  for (const item of items) for (const reference of item.references ?? []) references.push({ item, reference })
  return [...groupBy(references, ({ reference }) => reference.target)].map(([{ plan, fields, acceptedRows }, group]): WriteOperation => {
    const tuples = [...new Map(group.map(({ reference: { values } }) => [tupleKey(values), values])).values()]
    const unchanged = acceptedRows ? [rowsUnchanged(acceptedRows.columns, acceptedRows.rows)] : []
    const where = [inUniqueKeys(call.engine, fields, tuples), ...unchanged, ...plan.scope]
    const lock = { ...selectStatement(call, plan.resource, where, keyFields(plan.resource), 'share'), expectedRows: tuples.length }
    return {
      statement: certified(call, plan.resource, lock),
      expectation: 'reference',
      field: group[0]!.reference.name,
      ...(group.length === 1 && { item: group[0]!.item.index }),
    }
  })
}
