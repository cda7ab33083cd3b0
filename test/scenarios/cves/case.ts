/** A published vulnerability of a comparable system, as requests to this API. */
import type { Answered } from '../../support/server'
import type { Options, Sent, World } from './world'

/** The root causes, as the docs name them. */
export const CAUSES = [
  'an entry without the rules of the others',
  'a value becomes code',
  'a check before the change, none after it',
  'an identity from the request',
  'no limit',
  'open by default',
  'two readings of one path',
  'requests of the server',
  'files',
  'shared caches and instances',
  'prototype pollution',
  'other sites',
  'errors and oracles',
] as const

export type Cause = typeof CAUSES[number]

/** A request, and the response that it must get. */
export interface Attempt extends Sent {
  /** The status, and the code of an error: `400 UNKNOWN_FIELD`. */
  readonly is: string
  /** What of the response has to equal `equals`. Without it, the status and the code are enough. */
  readonly pick?: (answer: Answered) => unknown
  readonly equals?: unknown
}

export interface Case {
  /** The number of an advisory; without one, the kind of fault. */
  readonly id: string
  readonly system: string
  readonly cause: Cause
  /** What went wrong there. */
  readonly what: string
  readonly options?: Options
  readonly requests?: readonly Attempt[]
  /** The honest request, which has to work. It shows that the others are refused for the right reason. */
  readonly control?: Attempt
  /** Requests that depend on each other. Returns what has to equal `equals`. */
  readonly play?: (world: World) => Promise<unknown>
  readonly equals?: unknown
  /** Whether the case writes something that it may write. Otherwise no row and no file may change. */
  readonly writes?: true
  /** The test that has this case already, because it needs a built server or a mocked network: its file and title. */
  readonly tested?: readonly [file: string, title: string]
}

/** The status, and the code of an error. */
export const outcome = ({ status, body }: Answered): string =>
  status < 400 ? String(status) : `${status} ${(body as { data?: { code?: string } } | undefined)?.data?.code ?? ''}`.trim()

/** The ids of a list. */
export const ids = ({ body }: Answered): unknown => (body as { data: { id: number }[] }).data.map(({ id }) => id)

export const json = (value: unknown): string => encodeURIComponent(JSON.stringify(value))
