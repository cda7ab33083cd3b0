/** The rows of a step that earlier steps of the same write can make, or change. */
import { isDeepStrictEqual } from 'node:util'
import { applyScope, type Plan } from '../access/row-scope'
import { invalidBody, isNotFound, notFound, tagMismatch } from '../error'
import type { WriteKind } from '../plan/write'
import { tupleKey } from '../sql/tuple-key'
import type { Item, Target } from './items'
import { knownValue } from './late'
import type { WritePart } from './parts'
import { loadTargets } from './targets'

/**
 * Leaves a row to the commit if an earlier step makes it, or takes it out of or into the trash. Any other row that the caller cannot see
 * stays missing, so that no before-hook runs for it. A rule in code cannot judge a row that does not exist yet.
 */
export async function deferMissing(parts: readonly WritePart[]): Promise<void> {
  for (const part of parts) {
    const [item] = part.items
    if (!part.isStep || !item || part.plan.kind === 'create') continue
    const isLate = item.key === undefined && item.error === undefined
    if (!isLate && !(isNotFound(item.error) && await canAppear(part, item, parts))) continue
    const isTagged = item.ifMatch !== undefined && item.ifMatch !== '*'
    item.error = part.plan.accepts ? notFound() : isTagged ? tagMismatch() : undefined
    item.isDeferred = item.error === undefined
  }
}

async function canAppear({ plan, call }: WritePart, { key, index }: Item, parts: readonly WritePart[]): Promise<boolean> {
  const { resource, kind } = plan
  const earlier = parts.filter(({ items: [first] }) => first !== undefined && first.index < index)
  const isMade = (part: WritePart) => part.plan.kind === 'create' && part.plan.resource.table === resource.table && part.items.some(item =>
    resource.primaryKey.every((field, at) => isDeepStrictEqual(knownValue({ part, item, field })?.value, key![at])))
  if (earlier.some(isMade)) return true
  // Without trash, no earlier step moves a row into it or out of it.
  if (!resource.roles.deletedAt) return false
  const moves: WriteKind = kind === 'restore' ? 'delete' : 'restore'
  if (!earlier.some(({ plan }) => plan.kind === moves)) return false
  const row: Target = { key: key! }
  await loadTargets(await applyScope<Plan>(call, { resource, trash: 'both' }, kind), [row], call)
  return row.error === undefined
}

/** Refuses a second step on a row that a rule in code judges: the rule would judge it as it was before the first one. */
export function assertJudgedOnce(parts: readonly WritePart[]): void {
  const judged = new Set<string>()
  for (const { plan, items, isStep } of parts) {
    if (!isStep || !plan.accepts) continue
    for (const item of items) {
      if (!item.key || item.error !== undefined) continue
      const row = `${plan.resource.facts.name} ${tupleKey(item.key)}`
      if (judged.has(row)) item.error = invalidBody(`A rule in code judges this record of \`${plan.resource.name}\`. Write it in one step.`)
      judged.add(row)
    }
  }
}

/** In tables with foreign keys, marks the items whose row an earlier item updates too. */
export function markRepeated(parts: readonly WritePart[]): void {
  const rows = new Set<string>()
  for (const { plan: { kind, resource }, items } of parts) {
    if (kind !== 'update' || resource.foreignKeys.length === 0) continue
    for (const item of items) {
      if (!item.key) continue
      const row = `${resource.facts.name} ${tupleKey(item.key)}`
      if (rows.has(row)) item.isRepeated = true
      rows.add(row)
    }
  }
}

/** Refuses a second change of the links of a record: it was planned with the links before the first one. */
export function assertLinkedOnce(parts: readonly WritePart[]): void {
  const earlier: NonNullable<WritePart['links']>[] = []
  for (const { links, items: [whole] } of parts) {
    if (!links || !whole) continue
    const isSame = ({ parent, table, owner }: typeof links) =>
      parent !== links.parent && table === links.table && (owner === links.owner || owner === undefined || links.owner === undefined)
    if (earlier.some(isSame)) whole.error ??= invalidBody('Several steps change these links of the record. Change them in one step.')
    earlier.push(links)
  }
}
