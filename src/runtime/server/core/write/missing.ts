/** The rows of a step that earlier steps of the same write can make, or change. */
import type { Scoped } from '../access/row-scope'
import { invalidBody, isNotFound, notFound, tagMismatch } from '../error'
import type { WritePlan } from '../plan/write'
import { tupleKey } from '../sql/tuple-key'
import type { Item } from './items'
import type { WritePart } from './parts'

/** Leaves a row that does not exist yet to the commit. A rule in code cannot judge such a row. */
export function deferMissing(plan: Scoped<WritePlan>, item: Item): void {
  const isMissing = item.key ? isNotFound(item.error) && item.index > 0 : item.error === undefined
  if (plan.kind === 'create' || !isMissing) return
  const isTagged = item.ifMatch !== undefined && item.ifMatch !== '*'
  item.error = plan.accepts ? notFound() : isTagged ? tagMismatch() : undefined
  item.isDeferred = item.error === undefined
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
