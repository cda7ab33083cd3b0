/** The links in the bodies of a write: a part for each record, relation and action, with the rules of the relation routes. */
import type { Writable } from '../../extensions/extensions'
import { allFields, keyFields } from '../../access/fields'
import { applyScope, within, type Plan } from '../../access/row-scope'
import { certified } from '../../commit/certify'
import type { WriteOperation } from '../../commit/operation'
import { selectStatement } from '../../commit/select'
import { ApiError } from '../../error'
import type { ManyToMany } from '../../../schema/model'
import type { LinkItems } from '../../parse/write-item'
import { keyClauses } from '../../plan/read'
import { planLinkTarget, type LinkPlan } from '../../plan/relation'
import type { WritePlan } from '../../plan/write'
import { valuesAt } from '../../read/rows/decode'
import { junctionFields } from '../../read/rows/junction'
import { findHooks, itemContext } from '../../request/hooks'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { insertLinks } from '../create'
import type { Item, LateReference, NextIndex } from '../items'
import { knownValue } from '../late'
import type { LinkChanges, WritePart } from '../parts'
import { planFirstLinks } from './create-links'
import { countVisible, hasObjectLevel, linkOperations, planLinkChange } from './link-change'
import { runAfterLink, runBeforeLink } from './link-hooks'
import type { Counts, LinkTask, ScopedLink, Targets } from './links'
import { loadLinkTargets, targetOperations } from './targets'

/** @param next reserves an index for each part, and for each of its ids */
export async function linkParts(record: WritePart, next: NextIndex): Promise<readonly WritePart[]> {
  const parts: WritePart[] = []
  for (const [position, { links = [] }] of record.plan.items.entries())
    for (const own of links) parts.push(await toLinkPart(record, record.items[position]!, own, next))
  return parts
}

/** What a part does when the record was loaded. */
interface PlannedLinks {
  readonly task: Pick<LinkTask, 'link' | 'counts'>
  readonly targets: Targets
  /** The links to create or to delete, each with the position of its id. */
  readonly part: WritePart
  readonly positionOf: (item: Item) => number
  readonly operations: (time: Date) => readonly WriteOperation[]
  /** Counts the links that only code can count. */
  readonly countTotal?: () => Promise<number>
}

async function toLinkPart(record: WritePart, parent: Item, given: LinkItems, next: NextIndex): Promise<WritePart> {
  const { call } = record
  const { nested: { relation }, action, mode, positions } = given
  const { junction, target } = relation
  const ids = [...positions.keys()]
  const include = [await planLinkTarget(relation, { relation: relation.name, ids, metadata: {}, metadataById: new Map() }, call)]
  const { include: [link] } = await applyScope<Pick<LinkPlan, 'include' | 'resource' | 'trash'>>(
    call, { resource: call.resource, trash: 'active', include }, call.ctx.operation)
  const path = [...parent.place?.path ?? [], relation.name, action]
  const place = { root: parent.place?.root ?? parent.index, path }
  const whole: Item = { index: next(), place, sent: [], values: {}, original: {}, ctx: call.ctx, isHooked: true }
  const indexes = ids.map(() => next())
  const items: Item[] = [whole]
  const placeOf = (index: number) => ({ ...place, path: [...path, positions.get(ids[index]!)!] })
  const ctx = itemContext(call)
  let planned: PlannedLinks | undefined
  const parentKey = parent.key && relation.columns.map((field, index) => field.encode(parent.key![index]))

  /** An error of the ids has the place of the first one. */
  const failed = (error: unknown): Item => {
    if (!(error instanceof ApiError)) throw error
    const first = ids.indexOf(String((error.data.ids as readonly string[] | undefined)?.[0]))
    return { ...whole, index: indexes[first] ?? whole.index, place: first === -1 ? place : placeOf(first), error }
  }
  const locks = () => planned ? targetOperations(mode, link!, planned.targets, call) : []
  const links: LinkChanges = {
    parent,
    relation: Object.freeze({ resource: call.resource.name, name: relation.name }),
    lockedTable: target.facts.name,
    table: junction.resource.facts.name,
    owner: ownerOf(parent, relation),
    async load() {
      if (parent.error !== undefined) return
      try {
        planned = parentKey
          ? await planLinks(record, parent, parentKey, given, link!)
          : await planFirst(record, parent, given, link!)
        const { part: own, positionOf } = planned
        for (const item of own.items) {
          const position = positionOf(item)
          items.push(Object.assign(item, { index: indexes[position]!, place: placeOf(position) }))
        }
        Object.assign(part, { ...own, items })
      }
      catch (error) {
        items.push(failed(error))
      }
    },
    async findReason(reason) {
      try {
        if (parentKey) await loadLinkTargets(link!, parentKey, call)
      }
      catch (error) {
        return failed(error)
      }
      return { ...whole, error: reason }
    },
    async runBefore() {
      try {
        await runBeforeLink([{ link: link! }], ctx, call)
      }
      catch (error) {
        whole.error = error
      }
    },
    operations: time => planned ? [...locks(), ...planned.operations(time)] : [],
    locks,
    async runAfter(errors) {
      if (!planned || findHooks(call, call.resource, 'afterLink').length === 0) return
      const { task, countTotal } = planned
      if (countTotal) task.counts.total = await countTotal()
      await runAfterLink([task], ctx, errors, call)
    },
  }
  const plan = within<Plan, WritePlan>(link!.through, {
    kind: mode === 'add' ? 'create' : 'delete', items: [], bulk: false, atomic: true, selection: keyFields(junction.resource),
  })
  const part: Writable<WritePart> = { plan, call, items, written: new Map(), links }
  return part
}

/** The values of a new record can contain its key. An id of a batch can refer to a new record, or to any field of one. */
function ownerOf(record: Item, relation: ManyToMany): string | Item | undefined {
  const { key, lateKey, values } = record
  const { columns, junction } = relation
  const known = key ?? columns.map(({ name }) => values[name])
  if (!lateKey && known.every(value => value !== undefined))
    return `${junction.sourceKey.columns.join()} ${tupleKey(columns.map((field, index) => field.encode(known[index])))}`
  if (!lateKey) return record
  const { item, field } = lateKey
  return columns.length === 1 && field === columns[0] ? ownerOf(item, relation) : undefined
}

/** Plans the change of a record that exists, as its relation route does. */
async function planLinks(
  { call, plan: { resource } }: WritePart, parent: Item, key: readonly unknown[], { mode }: LinkItems, link: ScopedLink,
): Promise<PlannedLinks> {
  const { relation } = link
  const { junction } = relation
  const targets = await loadLinkTargets(link, key, call)
  const task: LinkTask = {
    link, mode, parent: key,
    ofParent: inTuples(call.engine, junctionFields(relation, junction.sourceKey.columns), [key]),
    targets,
    counts: { added: 0, removed: 0, total: 0 },
  }
  const change = await planLinkChange(task, call)
  const { creates, deletes } = change
  const lock = selectStatement(call, resource, keyClauses(resource, parent.key!), keyFields(resource), 'update')
  const parentLock: WriteOperation = { statement: certified(call, resource, lock), expectation: 'row' }
  const order = new Map(targets.values.map((values, index) => [tupleKey(values), index]))
  const targetOf = deletes?.read && valuesAt(allFields(junction.resource), junctionFields(relation, junction.targetKey.columns))
  return {
    task,
    targets,
    part: creates?.part ?? deletes!.part,
    positionOf: item => creates ? item.index : order.get(tupleKey(targetOf!(item.row!)))!,
    operations: time => [...call.engine.concurrent ? [parentLock] : [], ...linkOperations(change, call, time)],
    ...hasObjectLevel(link) && { countTotal: () => countVisible(task, call) },
  }
}

/** Plans the links of a record that the same commit creates. It has none that could be removed. */
async function planFirst(record: WritePart, parent: Item, { mode }: LinkItems, link: ScopedLink): Promise<PlannedLinks> {
  const { call } = record
  const { relation, relation: { junction, columns } } = link
  const referenceTo = (index: number): LateReference => ({ part: record, item: parent, field: columns[index]!, fixed: true })
  const shared = (index: number) => {
    if (!junction.targetKey.columns.includes(junction.sourceKey.columns[index]!)) return undefined
    const known = knownValue(referenceTo(index))
    return known && columns[index]!.encode(known.value)
  }
  const targets = await loadLinkTargets(link, columns.map((_, index) => shared(index)), call)
  const late = new Map(junction.sourceKey.columns.map((name, index) => [name, referenceTo(index)]))
  const values = mode === 'add' ? targets.values : []
  const part = await planFirstLinks({ link, targets: { ...targets, values }, late }, call)
  const counts: Counts = { added: values.length, removed: 0, total: values.length }
  // The hooks of another resource must not run for rows of a junction that is none.
  const written = relation.junction.registered ? part.written : new Map()
  return {
    task: { link, counts },
    targets,
    part,
    positionOf: ({ index }) => index,
    operations: time => insertLinks(part.plan, part.items, written, part.call, time),
  }
}
