/** Loads the records to link, and checks them again in the commit. */
import type { Row } from '../../../engines/engine'
import type { ManyToMany } from '../../../schema/model'
import type { Call } from '../../request/session'
import { unknownIds } from '../../error'
import { keyFields } from '../../access/fields'
import type { LinkPlan } from '../../plan/relation'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { narrow } from '../../access/row-scope'
import { certified } from '../../commit/certify'
import type { WriteOperation } from '../../commit/operation'
import type { ScopedLink, Targets } from './links'
import { checkUnchanged } from '../row-clauses'
import { readRows } from '../../read/rows/rows'
import { valuesAt } from '../../read/rows/decode'
import { selectStatement } from '../../commit/select'

/** @throws 404 with the ids of the records that the caller cannot see. */
export async function loadLinkTargets({ relation, plan, keys, ids }: ScopedLink, parent: readonly unknown[], call: Call): Promise<Targets> {
  const { primaryKey } = relation.target
  const encoded = keys.map(key => key.map((value, index) => primaryKey[index]!.encode(value)))
  if (keys.length === 0) return { values: [], columns: plan.selection, rows: [] }
  const { columns, rows } = await readRows(narrow(plan, [inTuples(call.engine, primaryKey, encoded)]), { cursor: true }, call)
  const keyOf = valuesAt(columns, primaryKey)
  const found = new Map(rows.map(row => [tupleKey(keyOf(row)), row]))
  const sharesColumns = sharedColumns(relation, parent)
  const linkedBy = valuesAt(columns, relation.foreignColumns)
  const wanted = encoded.map(key => found.get(tupleKey(key)))
  const missing = ids.filter((_, index) => !wanted[index] || !sharesColumns(linkedBy(wanted[index])))
  if (missing.length > 0) throw unknownIds(relation.name, missing)
  return { columns, rows: wanted as Row[], values: (wanted as Row[]).map(linkedBy) }
}

/** If the junction's two keys share a column, only records with the same value in that column can be linked. Returns this check. */
function sharedColumns(
  { junction: { sourceKey, targetKey } }: ManyToMany,
  parent: readonly unknown[],
): (target: readonly unknown[]) => boolean {
  const shared = sourceKey.columns.flatMap((name, index) =>
    targetKey.columns.includes(name) ? [[index, targetKey.columns.indexOf(name)] as const] : [],
  )
  return target => shared.every(([sourceIndex, targetIndex]) => String(parent[sourceIndex]) === String(target[targetIndex]))
}

/** Fails the commit if a record is no longer visible, or has changed since an object-level rule accepted it. */
export function targetOperations(
  mode: LinkPlan['mode'],
  link: ScopedLink,
  { values, columns, rows }: Targets,
  call: Call,
): WriteOperation[] {
  const {
    relation: { target, foreignColumns },
    plan,
  } = link
  if (plan.accepts) return checkUnchanged(plan, columns, rows, 'share', call)
  if (mode === 'remove' || values.length === 0) return []
  const where = [inTuples(call.engine, foreignColumns, values), ...plan.scope]
  const lock = selectStatement(call, target, where, keyFields(target), 'share')
  return [{ statement: certified(call, target, { ...lock, expectedRows: values.length }), expectation: 'row' }]
}
