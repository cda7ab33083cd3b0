/** The rows of a table as a funnel: how many each rule hides, and how many it leaves. */
import type { ExplainedRows } from '../shared/explanation'

export interface FunnelStep {
  /** The kind of the rule, and the rule itself. */
  readonly name: string
  readonly rule?: string
  readonly place?: string
  readonly hidden: number
  /** Unknown after a rule that has judged the first rows only. */
  readonly left?: number
}

export function toFunnel({ total, rules, truncated }: ExplainedRows): FunnelStep[] {
  let left = total
  return rules.map(({ kind, rule, place, hidden }) => {
    left -= hidden
    return { name: kind, hidden, ...rule !== undefined && { rule }, ...place !== undefined && { place }, ...!truncated && { left } }
  })
}
