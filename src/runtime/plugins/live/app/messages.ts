/** What the stream of a browser says to its tabs. */
import type { ApiProblem } from '../../../app/error'

export type LiveStatus = 'connecting' | 'open' | 'polling' | 'closed'

/** A record changed, or it can no longer be read. */
export interface Signal {
  readonly type: 'signal'
  readonly event: 'changed' | 'gone'
  readonly resource: string
  readonly id: string
}

export type StreamMessage = (
  | Signal
  /** The stream is open. `resumed`: no signal about the resources of the previous stream is missing. */
  | { readonly type: 'open', readonly resources: readonly string[], readonly resumed: boolean }
  /** Signals are missing. */
  | { readonly type: 'reset' }
  | { readonly type: 'poll', readonly interval: number }
  | { readonly type: 'status', readonly status: LiveStatus, readonly error?: ApiProblem }
) & {
  /** The last event that the stream has received. A new stream continues after it. */
  readonly last?: string
}

/** The resources that a tab listens to. */
export interface Needs {
  /** Those of its lists and records, and of `useAutoApiLive`. */
  readonly own: readonly string[]
  /** Those of includes, filters and sorts. If the caller cannot read them, the stream does without. */
  readonly related: readonly string[]
}

export const NO_NEEDS: Needs = { own: [], related: [] }

export function unite(all: Iterable<Needs>): Needs {
  const needs = [...all]
  const own = new Set(needs.flatMap(({ own }) => own))
  const related = new Set(needs.flatMap(({ related }) => related).filter(name => !own.has(name)))
  return { own: [...own].sort(), related: [...related].sort() }
}

export const isSame = (a: Needs, b: Needs): boolean => JSON.stringify(a) === JSON.stringify(b)
