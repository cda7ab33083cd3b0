/** The writes of a resource: which request each one is, and what is out of date after it. One row per action. */
import type { BulkResponse, BulkDeletion, Deletion } from '../shared/types/responses'
import type { CreateBody, DisabledIn, RecordId, RecordOf, ResourceName, UpdateBody } from '../shared/types/resources'
import type { Written } from './cache'
import type { ApiCall } from './client'
import { withDescendants } from './keys'

/** Records by their ids, or all that one deletion took along. */
export type Group = { readonly ids: readonly RecordId[] } | { readonly deletionId: string }

/** What is passed to `mutate`. */
export interface ActionVariables<R extends ResourceName> {
  create: CreateBody<R>
  update: { id: RecordId } & UpdateBody<R>
  delete: RecordId | { id: RecordId, reason?: string }
  restore: RecordId | Group
  purge: RecordId | Group
  bulkCreate: readonly CreateBody<R>[]
  bulkUpdate: readonly { id: RecordId, data: UpdateBody<R> }[]
  bulkDelete: readonly RecordId[]
}

/** What comes back. */
export interface ActionResponses<R extends ResourceName> {
  create: RecordOf<R>
  update: RecordOf<R>
  delete: Deletion
  restore: RecordOf<R> | BulkResponse<R>
  purge: Deletion | BulkDeletion
  bulkCreate: BulkResponse<R>
  bulkUpdate: BulkResponse<R>
  bulkDelete: BulkDeletion
}

export type Action = keyof ActionVariables<never>

/** The operation of each action. */
interface Operations {
  create: 'create'
  update: 'update'
  delete: 'delete'
  restore: 'restore'
  purge: 'purge'
  bulkCreate: 'create'
  bulkUpdate: 'update'
  bulkDelete: 'delete'
}

/** The actions of a resource: all whose operation it does not disable. */
export type ActionOn<R extends ResourceName> = { [A in Action]: Operations[A] extends DisabledIn<R> ? never : A }[Action]

type Request = Omit<ApiCall, 'resource'>

interface ActionRow {
  readonly request: (variables: never) => Request
  readonly written?: (resource: string, variables: never) => Written
}

type Id = RecordId
type IdWithReason = Id | { readonly id: Id, readonly reason?: string }
type IdOrGroup = Id | Group

const isId = (value: unknown): value is Id => typeof value !== 'object'
const idsOf = (value: IdWithReason | IdOrGroup) => isId(value) ? [value] : 'id' in value ? [value.id] : 'ids' in value ? value.ids : []

/** The trash takes along, and gives back, what hangs on a record. */
const withDependents = (resource: string): Written => ({ resources: withDescendants(resource) })
const withoutRecords = (resource: string, ids: readonly Id[]): Written => ({ ...withDependents(resource), removed: { resource, ids } })

export const ACTIONS: Readonly<Record<Action, ActionRow>> = {
  create: { request: (body: unknown) => ({ route: 'create', body }) },
  update: { request: ({ id, ...body }: { id: Id }) => ({ route: 'update', id, body }) },
  delete: {
    request: (given: IdWithReason) =>
      isId(given) ? { route: 'delete', id: given } : { route: 'delete', id: given.id, query: { reason: given.reason } },
    written: (resource, given: IdWithReason) => withoutRecords(resource, idsOf(given)),
  },
  restore: {
    request: (given: IdOrGroup) => (isId(given) ? { route: 'restore', id: given } : { route: 'bulk-restore', body: given }),
    written: withDependents,
  },
  purge: {
    request: (given: IdOrGroup) =>
      isId(given) ? { route: 'delete', id: given, query: { force: true } } : { route: 'bulk-delete', query: { force: true }, body: given },
    written: (resource, given: IdOrGroup) => withoutRecords(resource, idsOf(given)),
  },
  bulkCreate: { request: (items: unknown) => ({ route: 'bulk-create', body: { items } }) },
  bulkUpdate: { request: (items: unknown) => ({ route: 'bulk-update', body: { items } }) },
  bulkDelete: {
    request: (ids: readonly Id[]) => ({ route: 'bulk-delete', body: { ids } }),
    written: withoutRecords,
  },
}

/** A write that no row says more of changes rows of its own resource. */
export function writtenBy(action: Action, resource: string, variables: unknown): Written {
  return ACTIONS[action].written?.(resource, variables as never) ?? { resources: new Set([resource]) }
}
