/** The write actions of a resource: the request of each action, and the resources whose cached responses become stale. */
import type { BulkMeta, BulkDeletion, Deletion, WithIncluded } from '../shared/types/responses'
import type { CreateBody, CreatedRecord, DisabledIn, RecordId, RecordOf, ResourceName, UpdateBody } from '../shared/types/resources'
import type { Invalidation } from './cache'
import type { ApiCall } from './client'
import { withChildren, withDescendants } from './keys'
import { hasNested } from './nuxt'

/** Selects several records: by their ids, or all records that one cascading deletion moved to the trash. */
export type Group = ({ readonly ids: readonly TaggedId[] } | { readonly deletionId: string }) & Confirmed

/** A record of a preview. */
type ConfirmedId = { readonly id: RecordId } & Confirmed

interface Confirmed {
  /** `confirm` of the response to a dry run. If the write would change other records, it is refused. */
  readonly confirm?: string
}

/** An id, or an id with the tag that the record must have. */
export type TaggedId = RecordId | { readonly id: RecordId, readonly ifMatch?: string }

/** The records in the requests and responses of a resource. An interface, so that a write resolves only the types that it uses. */
export interface RecordTypes<R extends ResourceName, I = unknown> {
  create: CreateBody<R>
  update: UpdateBody<R>
  created: WithIncluded<R, CreatedRecord<R>, I>
  record: WithIncluded<R, RecordOf<R>, I>
}

/** {@link RecordTypes} of any resource. */
interface Types {
  create: unknown
  update: unknown
  created: unknown
  record: unknown
}

/** The variables of `mutate`, by action. */
export interface ActionVariables<T extends Types> {
  create: T['create']
  update: { id: RecordId } & T['update']
  delete: RecordId | { id: RecordId, reason?: string, confirm?: string }
  restore: RecordId | ConfirmedId | Group
  purge: RecordId | ConfirmedId | Group
  bulkCreate: readonly T['create'][]
  bulkUpdate: readonly { id: RecordId, data: T['update'], ifMatch?: string }[]
  bulkDelete: readonly TaggedId[] | { readonly ids: readonly TaggedId[], readonly confirm?: string }
}

/** The response of each action. */
export interface ActionResponses<T extends Types> {
  create: T['created']
  update: T['record']
  delete: Deletion
  restore: T['record'] | { data: T['record'][], meta: BulkMeta }
  purge: Deletion | BulkDeletion
  bulkCreate: { data: T['created'][], meta: BulkMeta }
  bulkUpdate: { data: T['record'][], meta: BulkMeta }
  bulkDelete: BulkDeletion
}

/** The response of a dry run of a delete, a restore or a purge. */
export interface Affected {
  /** The number of rows by resource: those of the request and cascaded ones, and only rows that the caller can see. */
  affected: Partial<Record<ResourceName, number>>
  /** More rows are affected, but the API checks only `objectLevelMaxRows` of them one by one. */
  affectedIsMore?: true
  /** Stands for these rows: with it, the write is refused if it would change others. It is absent for a batch that is not atomic. */
  confirm?: string
}

export interface BulkAffected extends Affected {
  meta: BulkMeta
}

/** The response of a dry run of each action. Values that only the database can generate can be absent. */
export interface DryRunResponses<T extends Types> {
  create: Partial<T['record']>
  update: Partial<T['record']>
  delete: Affected
  restore: Affected | BulkAffected
  purge: Affected | BulkAffected
  bulkCreate: { data: Partial<T['record']>[], meta: BulkMeta }
  bulkUpdate: { data: Partial<T['record']>[], meta: BulkMeta }
  bulkDelete: BulkAffected
}

/** The response of an action or of a dry run of it. */
export type ResponseOf<T extends Types, A extends Action, D extends boolean> = D extends true
  ? DryRunResponses<T>[A]
  : ActionResponses<T>[A]

export type Action = keyof ActionVariables<Types>

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

/** The actions of a resource, without actions whose operation is disabled. */
export type ActionOn<R extends ResourceName> = { [A in Action]: Operations[A] extends DisabledIn<R> ? never : A }[Action]

type Request = Omit<ApiCall, 'resource'>

interface ActionDefinition {
  readonly request: (variables: never) => Request
  /** Returns the resources that the action changes. @default the resource itself */
  readonly invalidates?: (resource: string, variables: never) => Invalidation
}

type Id = RecordId
type IdOrGroup = Id | ConfirmedId | Group
type IdToDelete = Id | (ConfirmedId & { readonly reason?: string })
type IdsToDelete = readonly TaggedId[] | { readonly ids: readonly TaggedId[], readonly confirm?: string }

const isId = (value: unknown): value is Id => typeof value !== 'object'
const idOf = (value: TaggedId) => isId(value) ? value : value.id
const idsOf = (value: IdToDelete | IdOrGroup | IdsToDelete) =>
  isId(value) ? [value] : 'id' in value ? [value.id] : 'ids' in value ? value.ids.map(idOf) : 'deletionId' in value ? [] : value.map(idOf)

const withId = <T extends object>(value: Id | T) => isId(value) ? { id: value, confirm: undefined } : value

/** The body of a request for several records, and its query. */
const toBatch = ({ confirm, ...body }: Group, query?: ApiCall['query']) => ({ query: { ...query, confirm }, body })

/** Deleting, restoring and purging cascade to dependents. */
const withDependents = (resource: string): Invalidation => ({ resources: withDescendants(resource) })
const withoutRecords = (resource: string, ids: readonly Id[]): Invalidation => ({ ...withDependents(resource), removed: { resource, ids } })

export const ACTIONS: Readonly<Record<Action, ActionDefinition>> = {
  create: { request: (body: unknown) => ({ route: 'create', body }) },
  update: { request: ({ id, ...body }: { id: Id }) => ({ route: 'update', id, body }) },
  delete: {
    request: (variables: IdToDelete) => {
      const { id, reason, confirm } = withId(variables) as Exclude<IdToDelete, Id>
      return { route: 'delete', id, query: { reason, confirm } }
    },
    invalidates: (resource, variables: IdToDelete) => withoutRecords(resource, idsOf(variables)),
  },
  restore: {
    request: (variables: IdOrGroup) => {
      const target = withId(variables)
      return 'id' in target
        ? { route: 'restore', id: target.id, query: { confirm: target.confirm } }
        : { route: 'bulk-restore', ...toBatch(target) }
    },
    invalidates: withDependents,
  },
  purge: {
    request: (variables: IdOrGroup) => {
      const target = withId(variables)
      return 'id' in target
        ? { route: 'delete', id: target.id, query: { force: true, confirm: target.confirm } }
        : { route: 'bulk-delete', ...toBatch(target, { force: true }) }
    },
    invalidates: (resource, variables: IdOrGroup) => withoutRecords(resource, idsOf(variables)),
  },
  bulkCreate: { request: (items: unknown) => ({ route: 'bulk-create', body: { items } }) },
  bulkUpdate: { request: (items: unknown) => ({ route: 'bulk-update', body: { items } }) },
  bulkDelete: {
    request: (variables: IdsToDelete) => ({ route: 'bulk-delete', ...toBatch('ids' in variables ? variables : { ids: variables }) }),
    invalidates: (resource, variables: IdsToDelete) => withoutRecords(resource, idsOf(variables)),
  },
}

/** Returns the resources that an action changes. The client invalidates the cached responses with their rows. */
export function invalidationOf(action: Action, resource: string, variables: unknown): Invalidation {
  return ACTIONS[action].invalidates?.(resource, variables as never) ?? {
    resources: hasNested ? withChildren(resource, variables) : new Set([resource]),
  }
}
