/** Checks the foreign keys in a body: each must refer to a row that the caller can see. Missing and invisible rows get the same error. */
import { isDeepStrictEqual } from 'node:util'
import { is, SQL } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../schema/drizzle/foreign-keys'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { invalidReference } from '../error'
import { select, type Selection } from '../access/fields'
import type { ReadPlan } from '../plan/read-plan'
import type { WritePlan } from '../plan/write'
import { inTuples } from '../sql/list/index'
import { tupleKey } from '../sql/tuple-key'
import { applyScope, narrow, type Scoped } from '../access/row-scope'
import { inTurn, andThen, type Awaitable } from '../awaitable'
import type { Item, Reference } from './items'
import { valuesUnchanged } from './row-clauses'
import { targetColumns } from './targets'
import { decoder, valuesAt } from '../read/rows/decode'
import { readRows, type Rows } from '../read/rows/rows'
import { memoizedPair } from '../memoized'

/**
 * Sets `references` or `error` of each item. One statement per foreign key reads the rows for all items. The constraints of the database
 * check the foreign keys to tables without a resource.
 *
 * @param when `'commit'`: reads no rows if `referenceOperations` can do the same check in the commit. This saves a statement, because most
 * references are valid. `'now'`: reads the rows, to find the failed item after such a commit.
 * The result is a promise only if rows are read, or the row scope of a referenced resource is one.
 * @param isChecked returns true for a foreign key whose rows are already checked.
 */
export function checkReferences(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  call: Call,
  when: 'now' | 'commit',
  isChecked?: (key: ForeignKeyFacts) => boolean,
): Awaitable<void> {
  for (const item of items) item.references = item.unchangedKeys = undefined
  return inTurn(checkedKeys(call.api, plan.resource), (checked) => {
    if (!isChecked?.(checked.key)) return checkForeignKey(plan, checked, items, call, when)
  })
}

/** A foreign key to a resource. The caller must see the referenced row, or the row must belong to the caller's tenant. */
interface CheckedKey {
  readonly key: ForeignKeyFacts
  readonly target: Resource
  readonly scope: Exclude<ReferenceScope, 'any'>
  /** The referenced columns. */
  readonly fields: readonly Field[]
  readonly selection: Selection
}

/** Finds the keys once per API, because the rules and the resources never change. */
const checkedKeys = memoizedPair(({ resources }: Call['api'], resource: Resource): readonly CheckedKey[] =>
  resource.foreignKeys.flatMap((key) => {
    const target = [...resources.values()].find(({ table }) => table === key.foreignTable)
    const scope = referenceScopeOf(resource, key)
    if (!target || scope === 'any') return []
    const fields = key.foreignColumns.map(name => target.fields.get(name)!)
    return [{ key, target, scope, fields, selection: select(target, field => fields.includes(field)) }]
  }))

function checkForeignKey(
  plan: Scoped<WritePlan>,
  { key, target: resource, scope, fields, selection }: CheckedKey,
  items: readonly Item[],
  call: Call,
  when: 'now' | 'commit',
): Awaitable<void> {
  const changed: ChangedReference[] = []
  const late: ChangedReference[] = []
  for (const item of items) {
    const sent = item.error === undefined ? sentReference(plan, key, item) : undefined
    if (!sent) continue
    const { values, kept } = sent
    // Another request can change them before the commit: what was checked, or needed no check, would then be something else.
    if (kept.length > 0) item.unchangedKeys = [...item.unchangedKeys ?? [], ...valuesUnchanged(plan, item.row!, kept)]
    if (!values) continue
    const isLate = item.late !== undefined && key.columns.some(name => item.late!.has(name))
    const encoded = values.map((value, index) => fields[index]!.encode(value));
    (isLate ? late : changed).push({ item, values: encoded })
  }
  if (changed.length + late.length === 0) return
  const read: ReadPlan = { resource, trash: 'active', selection, where: [], order: [], count: false, include: [] }
  return andThen(applyScope(call, read, 'read', scope === 'tenant' ? 'tenant' : 'all'), (scoped) => {
    const target = { fields, plan: scoped }
    for (const one of late) addLateReference(plan, key, one, target)
    if (changed.length === 0) return
    const reading = when === 'now' || !isCheckedByCommit(target)
      ? readRows(narrow(scoped, [inTuples(call.engine, fields, changed.map(({ values }) => values))]), { cursor: true }, call)
      : undefined
    return andThen(reading, found => addReferences(plan, key, changed, target, found))
  })
}

type ReferenceTarget = Reference['target']

/** The commit checks the row, which an earlier item can make. Rules in code cannot judge it, so such a row is not accepted. */
function addLateReference(
  plan: Scoped<WritePlan>, key: ForeignKeyFacts, { item, values }: ChangedReference, target: ReferenceTarget,
): void {
  const name = sentName(plan, key, item)
  if (target.plan.accepts) item.error = invalidReference(name)
  // Each of them has a target of its own, because its values are not known yet: two of them can be equal.
  else item.references = [...(item.references ?? []), { target: { ...target }, name, values }]
}

interface ChangedReference {
  readonly item: Item
  /** Driver values, in the order of the referenced columns. */
  readonly values: readonly unknown[]
}

/** @param found the referenced rows, unless the commit checks them */
function addReferences(
  plan: Scoped<WritePlan>, key: ForeignKeyFacts, changed: readonly ChangedReference[], target: ReferenceTarget, found: Rows | undefined,
): void {
  const foundKeys = found && new Set(found.rows.map(row => tupleKey(valuesAt(found.columns, target.fields)(row))))
  // The commit checks that the rows which code accepted have not changed.
  const reference: ReferenceTarget = target.plan.accepts ? { ...target, acceptedRows: found } : target
  for (const { item, values } of changed) {
    const name = sentName(plan, key, item)
    if (!foundKeys || foundKeys.has(tupleKey(values))) item.references = [...(item.references ?? []), { target: reference, name, values }]
    else item.error = invalidReference(name)
  }
}

/**
 * Returns whether a statement in the commit can do the whole check. SQL alone must decide which rows are visible, and the key must be an
 * integer: for a text key, a collation can find a row with a different text.
 */
function isCheckedByCommit({ plan, fields }: ReferenceTarget): boolean {
  return !plan.accepts && fields.every(({ kind }) => kind === 'integer' || kind === 'bigint')
}

/**
 * Returns the field that an error names. Validation can map a field that the client sent to a hidden column. The error must not name that
 * column.
 */
function sentName({ selection }: WritePlan, { columns }: ForeignKeyFacts, { sent, sentKeys }: Item): string | undefined {
  return columns.find(name => sent.includes(name) && (!sentKeys || sentKeys.includes(name) || selection.byName.has(name)))
}

type ReferenceScope = 'visible' | 'tenant' | 'any'

/** Ordered from the least to the most strict scope. */
const REFERENCE_SCOPES: readonly ReferenceScope[] = ['any', 'tenant', 'visible']

/** The columns of a composite key can have different rules. The least strict rule applies. */
function referenceScopeOf({ auth }: Resource, { columns }: ForeignKeyFacts): ReferenceScope {
  const rules = columns.map(name => (auth?.fields?.[name as never] as { reference?: ReferenceScope } | undefined)?.reference)
  return REFERENCE_SCOPES.find(scope => rules.includes(scope)) ?? 'visible'
}

interface SentReference {
  /** The values of the key. Absent if the key does not change. */
  readonly values?: readonly unknown[]
  /** The columns that must keep the values of the row. */
  readonly kept: readonly string[]
}

/**
 * Returns the key if the client sent one of its values. Values that a hook sets need no check. A column that the caller cannot read counts
 * as changed: an error for every value but the stored one would disclose the stored one.
 */
function sentReference(
  plan: Scoped<WritePlan>,
  { columns }: ForeignKeyFacts,
  { sent, values, original, row, isRepeated }: Item,
): SentReference | undefined {
  const isSent = (name: string) => sent.includes(name) && Object.hasOwn(values, name) && isDeepStrictEqual(values[name], original[name])
  if (!columns.some(isSent)) return undefined
  const before = row && decoder(targetColumns(plan))(row)
  const after = columns.map(
    name =>
      values[name]
      ?? (name === plan.resource.tenant?.name ? plan.tenantId : undefined)
      ?? (before ? before[name] : defaultOf(plan.resource.fields.get(name)!)),
  )
  if (after.some(value => value === null || value === undefined)) return undefined
  const isUnchanged = (name: string, index: number) =>
    isDeepStrictEqual(before![name], after[index]) && (plan.selection.byName.has(name) || !isSent(name))
  if (!before || isRepeated) return { values: after, kept: [] }
  return columns.every(isUnchanged) ? { kept: columns } : { values: after, kept: columns.filter(name => !Object.hasOwn(values, name)) }
}

/** Returns the table's default for a column of the key that a create does not set. */
function defaultOf({ column }: Field): unknown {
  return is(column.default, SQL) ? undefined : column.default ?? column.defaultFn?.()
}
