/** The computed fields that a plan uses, and the resources on which their values depend. */
import { is, Column, SQL } from 'drizzle-orm'
import type { Field } from '../../schema/field'
import { expressionOf } from '../../schema/drizzle/expression'
import type { Resource } from '../../schema/model'
import type { Plan, Scoped } from '../access/row-scope'
import type { ReadPlan } from '../plan/read-plan'
import { memoized } from '../memoized'
import type { Call } from '../request/session'
import { Where } from '../sql/where'

export interface ComputedReads {
  /** The resources whose commits change the values. */
  readonly tracks: readonly string[]
  /** The row scopes in the SQL of the fields, with their resources. */
  readonly scopes: readonly { readonly resource: Resource, readonly scope: readonly Where[] }[]
  /** Whether a value can change without a commit to one of these resources. */
  readonly untracked: boolean
}

const computedFields = memoized(({ fields }: Resource): readonly Field[] => [...fields.values()].filter(({ stored }) => !stored))

interface PlanParts extends Pick<ReadPlan, 'selection' | 'where'> {
  readonly order: readonly unknown[]
  readonly groups: unknown
}

/** Returns nothing for a plan without computed fields, which is every plan of a resource that has none. */
export function computedReads(plan: Scoped<Plan> & Partial<PlanParts>, call: Call): ComputedReads | undefined {
  const fields = computedFields(plan.resource)
  if (fields.length === 0) return undefined
  const { selection, where = [], order = [], groups } = plan
  const used = fields.filter(field => selection?.byName.has(field.name) || [where, order, groups].some(part => mentions(part, field)))
  if (used.length === 0) return undefined
  const references = used.flatMap(({ column }) => expressionOf(column)!.scopes)
  return {
    tracks: used.flatMap(({ tracks = [] }) => tracks),
    scopes: references.map(reference => ({
      resource: call.api.resources.get(reference.resource)!, scope: [call.memo.get(reference.key) as Where],
    })),
    untracked: used.some(({ tagged }) => !tagged),
  }
}

/** Whether SQL, an order or an aggregate contains the field. */
function mentions(part: unknown, field: Field): boolean {
  if (part === field || part === field.column) return true
  if (part instanceof Where) return part.parts.some(inner => mentions(inner, field))
  if (is(part, SQL)) return part.queryChunks.some(inner => mentions(inner, field))
  if (Array.isArray(part)) return part.some(inner => mentions(inner, field))
  return isPlain(part) && Object.values(part).some(inner => mentions(inner, field))
}

/** Orders, aggregates and groups are plain objects. A column contains its whole table. */
const isPlain = (part: unknown): part is object =>
  typeof part === 'object' && part !== null && !is(part, Column) && Object.getPrototypeOf(part) === Object.prototype
