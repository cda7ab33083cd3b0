/** What the parts of an explanation need to know about a request. */
import type { Operation } from '../../shared/operations'
import type { Api } from '../core/api'
import type { Session } from '../core/request/session'
import type { Resource } from '../schema/model'
import type { Places } from './places'
import type { Recording } from './recorder'

/** A request and its response, as the client sees them. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly status: number
  /** The parsed body of the response. */
  readonly response: unknown
}

/** What the error of a response says. */
export interface ErrorDetails {
  readonly code?: string
  readonly relation?: string
  readonly ids?: readonly unknown[]
  readonly field?: string
  readonly fields?: readonly string[]
}

/** What the parts of an explanation need. */
export interface Explaining {
  readonly api: Api
  readonly session: Session
  readonly resource: Resource | undefined
  readonly operation: Operation
  readonly exchange: Exchange
  readonly error: ErrorDetails
  readonly recording: Recording
  readonly places: Places
}
