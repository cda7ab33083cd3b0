/** Links that are added: where the junction is a resource, each of them is one of its creates, with all the rules it has for that. */
import { groupBy } from '../../../../shared/group-by'
import type { ForeignKeyFacts } from '../../../schema/drizzle'
import type { Call } from '../../context'
import { fieldForbidden } from '../../error'
import { allFields, keyFields, readableFields, select, unwritableFields } from '../../access/fields'
import { findHooks, itemContext, runAfterHooks, runHooks, type AnyHook } from '../../hooks'
import { parseData } from '../../parse/body'
import type { WritePlan } from '../../plan/write'
import { inTuples, isNull } from '../../sql/clause'
import { tupleKey } from '../../sql/tuple-key'
import { within, type Plan, type Scoped } from '../../access/row-scope'
import type { WriteOperation } from '../commit/commit'
import { findTrashed, restoreLinkOperations, type Trashed } from './restore-links'
import {
  forJunction, linkChanges, linkedClauses, sameLink, type HookResults, type LinkTask, type NewLink, type ScopedLink,
} from './links'
import { junctionFields } from '../rows/junction'
import { checkReferences } from '../write/references'
import { valuesAt, type RecordValues } from '../rows/rows'
import { createValues } from '../write/server-values'
import { insertStatements, selectStatement, type Unless } from '../commit/statements'
import { referenceOperations, writableValues } from '../write/operations'

export interface Creates {
  readonly plan: Scoped<WritePlan>
  /** The request as the junction's rules and hooks see it. */
  readonly call: Call
  readonly items: readonly NewLink[]
  /** Primary keys of links that exist already and are not part of the insert. */
  readonly kept: readonly (readonly unknown[])[]
  readonly trashed?: Trashed
  /** Filled by the commit: the primary keys of the links it added. */
  readonly added: Set<string>
  /** Filled by the commit: the added links, by what they hold of the other side. */
  readonly records: Map<string, RecordValues>
}

/** @throws `VALIDATION_FAILED` for a link that the junction would not accept. */
export async function planCreates(work: LinkTask, call: Call): Promise<Creates> {
  const { link, targets } = work
  const { relation: { junction: { resource, registered } }, metadata, through, tenantId } = link
  const own = registered ? forJunction(call, resource, 'create') : call
  const plan = within<Plan, WritePlan>(through, {
    kind: 'create', items: [], bulk: false, atomic: true, tenantId,
    // Which fields a refusal may name.
    selection: registered ? await readableFields(own, resource) : allFields(resource),
  })
  const linked = registered ? await findLinked(work, call) : new Map<string, readonly unknown[]>()
  const plain = isPlain(link)
  const kept: (readonly unknown[])[] = []
  const items: NewLink[] = []
  for (const [index, target] of targets.values.entries()) {
    const known = linked.get(tupleKey(target))
    // An existing link needs no metadata; metadata that was sent for it must be valid all the same.
    const silent = known !== undefined && Object.keys(metadata[index]!).length === 0
    const checked = silent && !plain ? undefined : toItem(work, index, target, own)
    const item = await checked?.catch((error: unknown) => {
      if (!silent) throw error
    })
    if (known && !(item && plain)) kept.push(known)
    else items.push(item!)
  }
  const trashed = items.length > 0 && resource.roles.deletedAt ? await findTrashed(work, items, call) : undefined
  return { plan, call: own, items, kept, ...trashed && { trashed }, added: new Set(), records: new Map() }
}

/** Without hooks and field rules nobody asks which links are new: existing ones can stand in the insert, which skips them. */
function isPlain({ relation: { junction: { resource, registered } } }: ScopedLink): boolean {
  return !registered || (!resource.auth?.fields && findHooks(resource, 'beforeCreate').length === 0 && !hasAfter(resource))
}

const hasAfter = (resource: WritePlan['resource']) => findHooks(resource, 'afterCreate').length > 0

/** The primary keys of the links that exist, by what they hold of the other side. */
async function findLinked(work: LinkTask, call: Call): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const { link: { relation }, targets } = work
  const { resource } = relation.junction
  const there = junctionFields(relation, relation.junction.there.columns)
  const selection = select(resource, field => there.includes(field) || resource.primaryKey.includes(field))
  const where = [...linkedClauses(work), inTuples(call.engine, there, targets.values)]
  const rows = await call.engine.query(selectStatement(call, resource, where, selection))
  return new Map(rows.map(row => [tupleKey(valuesAt(selection, there)(row)), valuesAt(selection, resource.primaryKey)(row)]))
}

/** Both keys of a link, as driver values by column name. */
function keysOf({ link: { relation: { junction: { here, there } } }, parent }: LinkTask, target: readonly unknown[]): Map<string, unknown> {
  return new Map([
    ...here.columns.map((name, at) => [name, parent[at]] as const),
    ...there.columns.map((name, at) => [name, target[at]] as const),
  ])
}

async function toItem(work: LinkTask, index: number, target: readonly unknown[], call: Call): Promise<NewLink> {
  const { relation: { junction: { resource, registered } }, metadata } = work.link
  const driver = keysOf(work, target)
  const field = (name: string) => resource.fields.get(name)!
  const decoded = (name: string) => field(name).decode?.(driver.get(name)) ?? driver.get(name)
  const names = [...driver.keys()]
  const base = { index, target, ctx: itemContext(call) }
  if (!registered) {
    const values = { ...metadata[index], ...Object.fromEntries(names.map(name => [name, decoded(name)])) }
    return { ...base, sent: Object.keys(metadata[index]!), values, original: values }
  }
  const { create: schema } = resource.schemas
  // A schema that does not know the keys describes the metadata alone.
  const told = names.filter(name => schema.generated || schema.knows(name))
    .map((name): [string, unknown] => [name, field(name).toWire?.(driver.get(name)) ?? driver.get(name)])
  const { values, sent } = await parseData(
    { ...metadata[index], ...Object.fromEntries(told) },
    resource,
    'create',
    () => readableFields(call, resource),
    call.api.taken,
  )
  const own = names.filter(name => !resource.dropped.create.has(name))
  const asked = { ...Object.fromEntries(own.map(name => [name, decoded(name)])), ...values }
  return {
    ...base,
    sent: [...new Set([...sent, ...own])],
    sentKeys: [...Object.keys(metadata[index]!), ...own],
    values: { ...asked },
    original: asked,
  }
}

/** The junction's before-hooks, its field rules, and the records that the metadata refers to. @throws What one of them refuses. */
export async function beforeCreates(work: LinkTask, { plan, call, items }: Creates, hooked: HookResults): Promise<void> {
  const { relation: { name, junction } } = work.link
  if (junction.registered) {
    for (const item of items) {
      const known = `${name} + ${tupleKey(item.target)}`
      const before = hooked.get(known) ?? {
        ctx: item.ctx,
        values: await runHooks(call, 'beforeCreate', item.values, (run, data) => (run as AnyHook)(data, item.ctx)),
      }
      hooked.set(known, before)
      Object.assign(item, before)
    }
    await assertWritable(work, items, plan, call)
  }
  // Both sides have been looked at by the rules of the route.
  const isSide = ({ columns, foreignTable }: ForeignKeyFacts) =>
    [junction.here, junction.there].some(side => side.foreignTable === foreignTable && side.columns.join() === columns.join())
  await checkReferences(plan, items, call, 'now', isSide)
  const failed = items.find(item => item.error !== undefined)
  if (failed) throw failed.error
}

/** What was sent and the hooks left in place, keys included. A hook cannot turn a link into one of other records. */
async function assertWritable(work: LinkTask, items: readonly NewLink[], { selection }: Scoped<WritePlan>, call: Call): Promise<void> {
  const { resource } = work.link.relation.junction
  const names = new Set(items.flatMap(({ sent, values }) => sent.filter(name => Object.hasOwn(values, name))))
  const unwritable = new Set(await unwritableFields(call, resource, [...names]))
  for (const { values, target } of items) {
    for (const [name, raw] of keysOf(work, target)) {
      const { encode, decode } = resource.fields.get(name)!
      const same = name === resource.tenant?.name || String(encode(values[name])) === String(encode(decode ? decode(raw) : raw))
      if (!same) unwritable.add(name)
    }
  }
  // A schema may make a hidden column of what was sent under another name.
  const isTold = (name: string) => selection.byName.has(name) || items.some(({ sentKeys }) => sentKeys?.includes(name))
  if (unwritable.size > 0) throw fieldForbidden(call.ctx, [...unwritable].filter(isTold))
}

/** What the metadata refers to is still there, links come back from the trash, and the others are made. */
export function createLinkOperations(work: LinkTask, creates: Creates, call: Call): WriteOperation[] {
  const { link, counts } = work
  const { resource, unique } = link.relation.junction
  const { deletedAt } = resource.roles
  const { plan, call: own, items, added } = creates
  const time = new Date()
  const keyOf = valuesAt(keyFields(resource), resource.primaryKey)
  const rows = items.map(item => createValues(plan, writableValues(plan, item), own, time))
  // Rows that set the same columns go into one statement.
  const groups = groupBy(rows, row => Object.keys(row).filter(name => resource.fields.has(name)).sort().join(','))
  const unless: Unless = { fields: sameLink(link), unique, where: !unique && deletedAt ? [isNull(deletedAt)] : [] }
  const inserts = [...groups.values()]
    .flatMap(group => insertStatements(call, resource, group, keyFields(resource), unless))
    .map(({ statement }): WriteOperation => ({
      statement: { ...statement, expect: undefined },
      read: ({ touched, rows }) => {
        counts.added += touched
        for (const row of rows) added.add(tupleKey(keyOf(row)))
      },
      changes: ({ rows }) => linkChanges(rows.map(statement.extra), 'link', resource, call),
    }))
  return [
    ...stillLinked(work, creates, call),
    ...referenceOperations(items, call),
    ...restoreLinkOperations(work, creates, hasAfter(resource), own, time),
    ...inserts,
  ]
}

/** A replacement counts on the links that it does not make: they must still be there. */
function stillLinked(work: LinkTask, { kept }: Creates, call: Call): WriteOperation[] {
  const { resource } = work.link.relation.junction
  if (work.mode !== 'replace' || kept.length === 0) return []
  const where = [inTuples(call.engine, resource.primaryKey, kept), ...linkedClauses(work)]
  return [{ statement: { ...selectStatement(call, resource, where, keyFields(resource)), expect: kept.length }, expectation: 'group' }]
}

/** Reads the added links at the end of the commit, for the after-hooks. */
export async function readAddedOperations(work: LinkTask, creates: Creates, call: Call): Promise<WriteOperation[]> {
  const { relation } = work.link
  const { resource, registered, there } = relation.junction
  const { items, added, records } = creates
  if (!registered || !hasAfter(resource) || items.length === 0) return []
  const fields = junctionFields(relation, there.columns)
  const readable = await readableFields(creates.call, resource)
  const needed = new Set([...resource.primaryKey, ...fields])
  const selection = select(resource, field => readable.byName.has(field.name) || needed.has(field))
  const where = [...linkedClauses(work), inTuples(call.engine, fields, items.map(({ target }) => target))]
  const made = { ...selectStatement(call, resource, where, selection), expect: undefined }
  const [keyOf, targetOf] = [valuesAt(selection, resource.primaryKey), valuesAt(selection, fields)]
  return [{ statement: made, read: ({ rows }) => {
    for (const row of rows) if (added.has(tupleKey(keyOf(row)))) records.set(tupleKey(targetOf(row)), made.extra(row))
  } }]
}

export async function afterCreates({ call, items, records }: Creates, errors: unknown[]): Promise<void> {
  for (const { target, ctx } of items) {
    const record = records.get(tupleKey(target))
    if (record) await runAfterHooks(call, 'afterCreate', record, (run, record) => (run as AnyHook)(record, ctx), errors)
  }
}
