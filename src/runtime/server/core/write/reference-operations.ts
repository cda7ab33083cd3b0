/** Checks the references of a write once more in its commit: the rows must still exist and be visible. */
import { groupBy } from '../../../shared/group-by'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import { inTuples } from '../sql/list/index'
import type { Tuple } from '../sql/list/list-sql'
import { tupleKey } from '../sql/tuple-key'
import { certified } from '../commit/certify'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import type { Item, Reference } from './items'
import { rowsUnchanged } from './row-clauses'
import { equalsRaw, whereClause } from '../sql/conditions'
import { where, type Where } from '../sql/where'

/** Builds one statement for each foreign key. It checks the references of all items. */
export function referenceOperations(items: readonly Item[], call: Call): WriteOperation[] {
  return findChecks(items, call).map(({ resource, where, rows, field, item }): WriteOperation => {
    const lock = { ...selectStatement(call, resource, where, keyFields(resource), 'share'), expectedRows: rows }
    return {
      statement: certified(call, resource, lock),
      expectation: 'reference',
      field,
      item,
    }
  })
}

export interface ReferenceConditions {
  /** `exists (select 1 from users where id = ? and organization_id = ?)` for each foreign key. Empty if there is nothing to check. */
  readonly where: readonly Where[]
  /** The field whose reference the conditions check, if it is only one. */
  readonly field: string | undefined
}

/**
 * Returns the checks as conditions of the statement that inserts a single row: it then needs neither a second statement nor a transaction.
 * Returns `undefined` if the checks need statements of their own: for several rows, because the statement would insert all or none of them,
 * and on engines that run commits concurrently, because only a lock keeps the referenced row as it is until the commit.
 */
export function referenceConditions(items: readonly Item[], call: Call): ReferenceConditions | undefined {
  const { concurrent, adapter } = call.engine
  if (items.length !== 1 || concurrent || !adapter.returning) return undefined
  const checks = findChecks(items, call)
  return { where: checks.map(exists), field: checks.length === 1 ? checks[0]!.field : undefined }
}

const exists = ({ resource, where: conditions }: ReferenceCheck): Where =>
  where`exists (select 1 from ${resource.table}${whereClause(conditions)})`

/** The check of one foreign key. */
interface ReferenceCheck {
  /** The resource of the referenced rows. */
  readonly resource: Resource
  /** Selects the referenced rows, in the row scope of the caller. */
  readonly where: readonly Where[]
  /** The number of referenced rows. */
  readonly rows: number
  readonly field: string | undefined
  /** The index of the item, if it is only one. */
  readonly item: number | undefined
}

function findChecks(items: readonly Item[], { engine }: Call): ReferenceCheck[] {
  const references: { readonly item: Item, readonly reference: Reference }[] = []
  for (const item of items) for (const reference of item.references ?? []) references.push({ item, reference })
  if (references.length === 0) return []
  return [...groupBy(references, ({ reference }) => reference.target)].map(([{ plan, fields, acceptedRows }, group]): ReferenceCheck => {
    const tuples = distinctTuples(group.map(({ reference: { values } }) => values))
    const single = tuples.length === 1 ? tuples[0] : undefined
    const unchanged = acceptedRows ? [rowsUnchanged(acceptedRows.columns, acceptedRows.rows)] : []
    const keys = single ? fields.map((field, index) => equalsRaw(field, single[index])) : [inTuples(engine, fields, tuples)]
    return {
      resource: plan.resource,
      where: [...keys, ...unchanged, ...plan.scope],
      rows: tuples.length,
      field: group[0]!.reference.name,
      item: group.length === 1 ? group[0]!.item.index : undefined,
    }
  })
}

const distinctTuples = (tuples: readonly Tuple[]): readonly Tuple[] =>
  tuples.length === 1 ? tuples : [...new Map(tuples.map(values => [tupleKey(values), values])).values()]
