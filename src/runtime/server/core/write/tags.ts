/** Compares the tags of a request with the records, and pins the compared columns until the write. */
import type { Awaitable } from '../awaitable'
import type { Field } from '../../schema/field'
import { isAuthorized } from '../access/authorize'
import { allFieldsAnd, select, taggedFields, type Selection } from '../access/fields'
import { applyScope, type Plan, type Scoped } from '../access/row-scope'
import type { Call } from '../request/session'
import { tagMismatch } from '../error'
import type { IfMatch } from '../parse/if-match'
import type { WritePlan } from '../plan/write'
import { revisersOf, type Revise } from '../plan/record-revision'
import { tupleKey } from '../sql/tuple-key'
import { decoder, valuesAt } from '../read/rows/decode'
import { filterAccepted } from '../read/rows/object-level'
import { selectList } from '../read/rows/select'
import { withoutError, type Item } from './items'
import { keysClause, loadTargets } from './targets'
import { whereClause } from '../sql/conditions'
import { statement } from '../sql/parameterize'
import { asSql, commaList, value, where, type Where } from '../sql/where'

/** The record as a get of the caller would return it. */
interface Current {
  /** One per secret of the app. */
  readonly revisions: readonly string[]
  /** Holds as long as no field of the revision changes. */
  readonly unchanged: readonly Where[]
}

/**
 * Sets the error of each item whose record does not have the revision in `ifMatch`. Every other item gets the condition that the record
 * does not change before the write. So of two writes with the same tag, only one succeeds. One statement reads all records.
 */
export function checkTags(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Awaitable<void> {
  const isTagged = ({ ifMatch, error }: Item) => ifMatch !== undefined && ifMatch !== '*' && error === undefined
  if (items.some(isTagged)) return compareTags(plan, items.filter(isTagged), call)
}

async function compareTags(plan: Scoped<WritePlan>, tagged: readonly Item[], call: Call): Promise<void> {
  const { primaryKey } = plan.resource
  const current = await readCurrent(plan, tagged, call)
  const found = (item: Item) => current.get(tupleKey(item.key!.map((value, index) => primaryKey[index]!.encode(value))))
  // Another write can have removed the row since it was loaded: 404 comes before 412.
  await loadTargets(plan, tagged.filter(item => !found(item)), call)
  for (const item of withoutError(tagged)) {
    const record = found(item)
    if (record && hasRevision(item.ifMatch!, record))
      item.conditions = [...item.conditions ?? [], { clauses: record.unchanged, error: tagMismatch }]
    else item.error = tagMismatch()
  }
}

const hasRevision = (ifMatch: IfMatch, { revisions }: Current) =>
  ifMatch !== '*' && revisions.some(revision => ifMatch.has(revision))

/**
 * Reads the records in the row scope of a get. A caller can have permission to write a record, but not to read it. Such a caller has no tag
 * of the record, so no tag matches. Otherwise the caller could find out its values by guessing tags.
 */
async function readCurrent(plan: Scoped<WritePlan>, items: readonly Item[], call: Call): Promise<ReadonlyMap<string, Current>> {
  const { resource } = plan
  const fields = await taggedFields(call)
  const trash = plan.trash === 'active' || await isAuthorized(call, resource, 'viewDeleted') ? plan.trash : 'active'
  if (!fields) return new Map()
  const scoped = await applyScope<Plan>(call, { resource, trash }, 'read')
  const columns = scoped.accepts
    ? allFieldsAnd(resource, fields.fields)
    : select(resource, field => fields.byName.has(field.name) || resource.primaryKey.includes(field))
  const rows = await call.engine.query(currentStatement(columns, fields, [keysClause(plan, items, call), ...scoped.scope], plan, call))
  const visible = scoped.accepts ? await filterAccepted(rows, decoder(columns), scoped.accepts) : rows
  const decode = decoder(columns, fields, 'wire')
  const keyOf = valuesAt(columns, resource.primaryKey)
  const revisers = revisersOf(call)
  if (!revisers) return new Map()
  return new Map(visible.map(row => [tupleKey(keyOf(row)), {
    revisions: revisionsOf(revisers, decode(row)),
    unchanged: fields.fields.map((field, index) => hasFingerprint(field, row[columns.fields.length + index], call)),
  }]))
}

const revisionsOf = (revisers: readonly Revise[], record: Parameters<Revise>[0]) => revisers.map(revise => revise(record))

/** `select id, title, …, fingerprint of id, fingerprint of title, … from t where …` */
function currentStatement(columns: Selection, fields: Selection, conditions: readonly Where[], { resource }: Plan, call: Call) {
  const fingerprints = commaList(fields.fields.map(({ column, kind }) => call.engine.adapter.fingerprint(column, kind)))
  return statement(call, where`select ${selectList(columns)}, ${fingerprints} from ${resource.table}${whereClause(conditions)}`)
}

/** `cast(price as text) is not distinct from ?` */
const hasFingerprint = ({ column, kind }: Field, fingerprint: unknown, { engine: { adapter } }: Call): Where =>
  where`${adapter.same(adapter.fingerprint(column, kind), asSql(value(fingerprint)))}`
