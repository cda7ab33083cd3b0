/** What the page of Nuxt DevTools shows. It exists in development only. */
import type { Decision, ExplainedCaller, ExplainedStatement } from './explanation'

export interface DevtoolsResource {
  readonly name: string
  readonly table: string
  readonly readOnly: boolean
  /** Where its rules stand. */
  readonly place?: string
  readonly fields: readonly DevtoolsField[]
  readonly relations: readonly { readonly name: string, readonly kind: 'one' | 'many' | 'manyToMany', readonly target: string }[]
  /** The rules, such as `permissions.read`, `listFilter` and `fields.salary.read`, with what they require. */
  readonly rules: readonly { readonly name: string, readonly requires: string, readonly place?: string }[]
  readonly missingIndexes: readonly { readonly columns: readonly string[], readonly reason: string }[]
}

export interface DevtoolsField {
  readonly name: string
  readonly type: string
  readonly key: boolean
  readonly hidden: boolean
  readonly computed: boolean
  /** `tenant`, `deletedAt`, and other roles of columns. */
  readonly role?: string
}

export interface DevtoolsAccess {
  readonly caller: ExplainedCaller
  /** One decision for each operation, in the order of `OPERATIONS`. */
  readonly resources: readonly { readonly name: string, readonly decisions: readonly Decision[] }[]
}

export interface RecordedRequest {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly method: string
  readonly path: string
  readonly resource: string
  readonly operation: string
  /** The name of the route, such as `list`. */
  readonly route?: string
  readonly status?: number
  readonly code?: string
  /** In milliseconds. */
  readonly duration: number
  readonly statements: readonly ExplainedStatement[]
  /** What refused the caller: the resource and its operations. */
  readonly rule?: string
  /** What the cache of responses did. */
  readonly cache?: string
}
