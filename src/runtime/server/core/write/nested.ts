/**
 * The parts of the children and links in the bodies of a write. Children have one part for each relation and action, whatever the number of
 * parents.
 */
import { CHILD_ACTIONS, type ChildAction } from '../../../shared/nested'
import type { NestedChildren } from '../../schema/model'
import type { Call } from '../request/session'
import { callFor } from '../access/authorize'
import { keyFields } from '../access/fields'
import { applyScope, type Scoped } from '../access/row-scope'
import { notFound, type Path } from '../error'
import { hasNested, type ChildItems, type WriteItem } from '../parse/write-item'
import { planCreate, planDelete, planUpdate, type WritePlan } from '../plan/write'
import { equals } from '../sql/conditions'
import { hasAfterHooks, itemContexts } from './hooks'
import { toItems, type Item, type LateReference, type NextIndex } from './items'
import { toPart, type WritePart } from './parts'
import { linkParts } from './relations/nested'

const PLANS = { create: planCreate, update: planUpdate, delete: planDelete } as const

export const hasChildren = ({ items }: WritePlan): boolean => items.some(hasNested)

/** A child, and the item of its parent. */
interface Child {
  readonly parent: Item
  readonly given: WriteItem
  readonly path: Path
}

export function countFrom(first: number, step = 1): NextIndex {
  let next = first
  return () => {
    const index = next
    next += step
    return index
  }
}

/** Returns the parts in the order of the commit, after their parents. */
export async function childParts(part: WritePart, next: NextIndex): Promise<readonly WritePart[]> {
  const parts: WritePart[] = [...await linkParts(part, next)]
  for (const { nested, action, children } of groupsOf(part)) {
    const own = await toChildPart(part, nested, action, children, next)
    parts.push(own, ...await childParts(own, next))
  }
  return parts
}

interface Group {
  readonly nested: NestedChildren
  readonly action: ChildAction
  readonly children: readonly Child[]
}

function groupsOf({ plan, items, call }: WritePart): readonly Group[] {
  const given = plan.items.flatMap(({ children = [] }, position) => children.map(child => ({ child, parent: items[position]! })))
  const relations = new Set(given.map(({ child }) => child.nested))
  return [...relations].flatMap(nested => CHILD_ACTIONS.flatMap((action): Group[] => {
    const children = given.filter(({ child }) => child.nested === nested && child.action === action)
      .flatMap(({ child, parent }) => toChildren(child, parent))
    const group = { nested, action, children }
    if (children.length === 0) return []
    return isOneByOne(plan, group, call) ? children.map(child => ({ ...group, children: [child] })) : [group]
  }))
}

/**
 * Whether each child needs a statement of its own. A batch finds a generated key by the rows that were inserted after it, so a statement
 * must not insert several rows into the table of their parents.
 */
const isOneByOne = ({ resource }: WritePlan, { nested: { relation }, action }: Group, { engine }: Call) =>
  action === 'create' && !engine.supportsFollowUp && relation.target.table === resource.table

function toChildren({ nested: { relation }, action, items }: ChildItems, parent: Item): readonly Child[] {
  return items.map((given, index) => ({ parent, given, path: [...parent.place?.path ?? [], relation.name, action, index] }))
}

async function toChildPart(
  part: WritePart, { relation }: NestedChildren, action: ChildAction, children: readonly Child[], next: NextIndex,
): Promise<WritePart> {
  const call = callFor(part.call, relation.target, action)
  const items = children.map(({ parent, given }): WriteItem =>
    action === 'create' ? given : { ...given, ...conditionOf(relation, parent, part) })
  const plan = await PLANS[action]({ items, bulk: true }, call)
  // The response has no children, so only after-hooks read their records.
  const returned = hasAfterHooks(plan, call) ? undefined : keyFields(plan.resource)
  const scoped: Scoped<WritePlan> = await applyScope<WritePlan>(call, { ...plan, returned, atomic: true }, action)
  const own = toItems(scoped, itemContexts(scoped, call)).map((item, position): Item => {
    const { parent, path } = children[position]!
    const late = action === 'create' ? foreignKeys(part, parent, relation) : undefined
    return { ...item, index: next(), place: { root: parent.place?.root ?? parent.index, path }, ...late && { late } }
  })
  return toPart(scoped, call, own)
}

type Relation = NestedChildren['relation']

/** The foreign key of a new child is the key of its parent, which the database can generate. */
function foreignKeys(part: WritePart, parent: Item, { columns, foreignColumns }: Relation): ReadonlyMap<string, LateReference> {
  return new Map(foreignColumns.map((field, index) => [field.name, { part, item: parent, field: columns[index]!, fixed: true }]))
}

/** A record that is not a child of the parent is as good as none. A new parent has no children yet. */
function conditionOf({ foreignColumns }: Relation, { key }: Item, { plan }: WritePart): Pick<WriteItem, 'condition' | 'error'> {
  if (plan.kind === 'create' || !key) return { error: notFound() }
  return { condition: { clauses: foreignColumns.map((field, index) => equals(field, key[index])), error: notFound } }
}
