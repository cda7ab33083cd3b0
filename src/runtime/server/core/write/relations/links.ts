/** Finds the links of a record in a junction table: all existing links, or only the links that the caller can see. */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { ManyToMany, Resource } from '../../../schema/model'
import type { Call } from '../../request/session'
import { notFound } from '../../error'
import { allFields, select, type Selection } from '../../access/fields'
import type { Key } from '../../../schema/record-id'
import type { LinkMode } from '../../access/links'
import { byKey } from '../../plan/read'
import type { LinkPlan } from '../../plan/relation'
import type { ReadPlan } from '../../plan/read-plan'
import { inTuples } from '../../sql/list/index'
import { matchRows } from '../../access/related'
import { within, type Plan, type Scoped } from '../../access/row-scope'
import type { Item, LateReference } from '../items'
import type { WritePart } from '../parts'
import { filterAccepted, maxScanRows, tooManyRowsToCheck } from '../../read/rows/object-level'
import { decoder, valuesAt } from '../../read/rows/decode'
import { readOne, readRows } from '../../read/rows/rows'
import { selectList } from '../../read/rows/select'
import { junctionFields, joinCondition } from '../../read/rows/junction'
import { and, equals, isNull, whereClause } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { value, where, type Where } from '../../sql/where'

export type ScopedLink = Scoped<LinkPlan>['include'][number]

export type Counts = { added: number, removed: number, total: number }

/** The change of one relation in a request. */
export interface LinkTask {
  readonly link: ScopedLink
  readonly mode: LinkMode
  /** The values of the record that the junction's source key references. */
  readonly parent: readonly unknown[]
  /** The condition that a link belongs to the record. */
  readonly ofParent: Where
  readonly targets: Targets
  readonly counts: Counts
}

/** The links of a record that the same commit creates. */
export interface FirstLinks extends Pick<LinkTask, 'link' | 'targets'> {
  /** The columns of the junction that reference the record. */
  readonly late: ReadonlyMap<string, LateReference>
}

/** The records to link or to unlink. */
export interface Targets {
  /** The target key of each record, in the order of the ids in the request. */
  readonly values: readonly (readonly unknown[])[]
  readonly columns: Selection
  readonly rows: readonly Row[]
}

/** A link to add. */
export interface NewLink extends Item {
  /** The target key of the link: the values of the junction's foreign key to the linked record. */
  readonly target: readonly unknown[]
}

export interface LinkCreates {
  readonly part: WritePart
  /** The items of the part: the new links, and links that exist but that the caller cannot see. The same rules apply to both. */
  readonly links: readonly NewLink[]
  /** Those of `links` that the commit adds. */
  readonly newLinks: readonly NewLink[]
  /** The primary keys of existing links that the insert leaves out. */
  readonly kept: readonly (readonly unknown[])[]
  readonly trashed?: TrashedLinks
  /** The primary keys of the added links. The commit fills this set. */
  readonly added: Set<string>
}

/** Links in the trash that the request adds again. */
export interface TrashedLinks {
  readonly where: readonly Where[]
  /** The primary keys of the links to restore, by their target key. */
  readonly picked: ReadonlyMap<string, readonly unknown[]>
}

/** @throws 404 when the record is not visible. */
export async function readParentValues(plan: Scoped<Plan>, key: Key, columns: readonly Field[], call: Call): Promise<readonly unknown[]> {
  const selection = select(plan.resource, field => columns.includes(field))
  const { columns: selected, rows } = await readOne(within<Plan, ReadPlan>(plan, byKey(plan.resource, key, selection)), key, [], call)
  if (rows.length === 0) throw notFound()
  return valuesAt(selected, columns)(rows[0]!)
}

/** Returns the columns that identify a link: both keys and, if no unique constraint covers exactly the two keys, the tenant. */
export function sameLink({ relation: { junction: { resource, unique, sourceKey, targetKey } } }: ScopedLink): readonly Field[] {
  const names = new Set([...sourceKey.columns, ...targetKey.columns, ...!unique && resource.tenant ? [resource.tenant.name] : []])
  return [...names].map(name => resource.fields.get(name)!)
}

/**
 * Matches all links of the record that are not in the trash, including links that the caller cannot see. If no unique constraint covers
 * exactly the two keys, it matches only links of the tenant.
 */
export function linkedClauses({ link: { relation, tenantId }, ofParent }: LinkTask): readonly Where[] {
  const { resource: { roles: { deletedAt }, tenant }, unique } = relation.junction
  return [ofParent, ...deletedAt ? [isNull(deletedAt)] : [], ...!unique && tenant ? [equals(tenant, tenantId)] : []]
}

/**
 * Matches the records that are linked to the parent: `tags.id in (select tag_id from junction where post_id = ? and …)`.
 * If the junction has an object-level rule, it matches the target keys of the accepted links instead.
 */
export async function linkedTo(relation: ManyToMany, parent: readonly unknown[], through: Scoped<Plan>, call: Call): Promise<Where> {
  const { junction, foreignColumns } = relation
  const targetFields = junctionFields(relation, junction.targetKey.columns)
  const own = [inTuples(call.engine, junctionFields(relation, junction.sourceKey.columns), [parent]), ...through.scope]
  if (through.accepts)
    return inTuples(
      call.engine,
      foreignColumns,
      (await acceptedLinks(relation, own, through, call)).map(row => valuesAt(allFields(junction.resource), targetFields)(row)),
    )
  const links = { resource: junction.resource, keys: targetFields, where: own }
  return matchRows(call.engine, 'some', foreignColumns, links).with({ byKeys: true })
}

/**
 * Reads the links that the junction's object-level rule accepts.
 * @throws `LIMIT_EXCEEDED` when the record has more links than a scan can check.
 */
export async function acceptedLinks(
  relation: ManyToMany,
  conditions: readonly Where[],
  through: Scoped<Plan>,
  call: Call,
): Promise<readonly Row[]> {
  const { resource } = relation.junction
  const columns = allFields(resource)
  const max = maxScanRows(call)
  const links = where`select ${selectList(columns)} from ${resource.table}${whereClause(conditions)}`
  const rows = await call.engine.query(statement(call, where`${links} limit ${value(max + 1)}`))
  if (rows.length > max) throw tooManyRowsToCheck(max, 'The record has too many links.')
  return filterLinks(rows, resource, through)
}

/** Reads the links that the scope contains, by its rules in SQL and in code. */
export async function readLinks(scope: Scoped<Plan>, where: readonly Where[], call: Call): Promise<readonly Row[]> {
  const read = within<Plan, ReadPlan>(scope, { where, selection: allFields(scope.resource), order: [], count: false })
  return (await readRows(read, { maxScanned: Infinity }, call)).rows
}

/** Keeps the rows of a junction that its object-level rule accepts. */
export function filterLinks(rows: readonly Row[], resource: Resource, through: Scoped<Plan>): Promise<readonly Row[]> {
  return filterAccepted(rows, decoder(allFields(resource)), through.accepts!)
}

/** Matches the links to visible records. It contains the row scope in SQL, without object-level rules. */
export function linksToVisible({ relation, plan }: ScopedLink): Where {
  const { target, foreignColumns, junction } = relation
  const isTarget = joinCondition(junctionFields(relation, junction.targetKey.columns), foreignColumns)
  return where`exists (select 1 from ${target.table} where ${isTarget} and ${and(plan.scope)})`
}
