/** Lists the linked records that the caller can see, with the metadata of each link. */
import type { ManyToMany } from '../../../schema/model'
import type { Call } from '../../request/session'
import { allFields, readableFields, select } from '../../access/fields'
import { callFor } from '../../access/authorize'
import type { RelatedPlan } from '../../plan/relation'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { narrow, type Plan, type Scoped } from '../../access/row-scope'
import { acceptedLinks, linkedTo, readParentValues } from './links'
import { junctionFields } from '../../read/rows/junction'
import { executeList, type ListResult } from '../../read/list'
import { decoder, valuesAt, type RecordValues } from '../../read/rows/decode'
import { selectStatement } from '../../commit/select'

export async function executeRelated(plan: Scoped<RelatedPlan>, call: Call): Promise<ListResult> {
  const { relation } = plan
  const parent = await readParentValues(plan, plan.key, relation.columns, call)
  const [{ plan: list, through }] = plan.include
  const linked = relation.kind === 'manyToMany'
    ? await linkedTo(relation, parent, through!, call)
    : inTuples(call.engine, relation.foreignColumns, [parent])
  const targetCall = callFor(call, relation.target, 'read')
  return executeList(narrow(list, [linked]), targetCall, relation.kind === 'manyToMany' && plan.metadata
    ? { extraColumns: relation.foreignColumns, attach: (records, keys) => attachMetadata(relation, parent, through!, records, keys, call) }
    : undefined)
}

/** Adds the metadata of each link as `_junction`: the junction's columns that the caller can read, without the two keys. */
async function attachMetadata(
  relation: ManyToMany,
  parent: readonly unknown[],
  through: Scoped<Plan>,
  records: readonly RecordValues[],
  keys: readonly (readonly unknown[])[],
  call: Call,
): Promise<void> {
  const { junction } = relation
  const { resource, sourceKey, targetKey } = junction
  if (keys.length === 0) return
  const targetFields = junctionFields(relation, targetKey.columns)
  const where = [
    inTuples(call.engine, junctionFields(relation, sourceKey.columns), [parent]),
    inTuples(call.engine, targetFields, keys),
    ...through.scope,
  ]
  const readable = await readableFields(call, resource)
  const shown = select(
    resource,
    ({ stored, name }) =>
      stored && readable.byName.has(name) && !sourceKey.columns.includes(name) && !targetKey.columns.includes(name),
  )
  const columns = through.accepts
    ? allFields(resource)
    : select(resource, field => shown.byName.has(field.name) || targetFields.includes(field))
  const rows = through.accepts
    ? await acceptedLinks(relation, where, through, call)
    : await call.engine.query(selectStatement(call, resource, where, columns))
  const decode = decoder(columns, shown)
  const found = new Map(rows.map(row => [tupleKey(valuesAt(columns, targetFields)(row)), decode(row)]))
  records.forEach((record, index) => {
    const link = found.get(tupleKey(keys[index]!))
    for (const field of shown.fields) if (link && field.toJson) link[field.name] = field.toJson(link[field.name])
    record._junction = link ?? {}
  })
}
