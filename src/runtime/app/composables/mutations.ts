/** Composables that write one record or a selection of records: one for each action. All of them use the same mutation. */
import { useQueryClient } from '@tanstack/vue-query'
import type { Exact } from '../../shared/types/exact'
import type { Include } from '../../shared/types/query'
import type { RecordId, ResourceName, ResourceWith } from '../../shared/types/resources'
import type { Action, ActionOn, RecordTypes } from '../actions'
import { useAutoApiOptimisticUpdate } from '../optimistic'
import type { AnyRecord, OnlyAtRunTime, Row } from '../any-resource'
import { useAction, type ActionOptions, type ActionResult, type IncludesNothing } from '../write'

/** A resource in which records can be created. */
export type Creatable = ResourceWith<'create'>

/**
 * Writes to a resource. The action is `create`, `update`, `delete`, `restore`, `purge`, `bulkCreate`, `bulkUpdate` or
 * `bulkDelete`. Stale responses are refetched before `onSuccess` runs. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiMutation('posts', 'restore')
 */
export function useAutoApiMutation<
  R extends ResourceName, const A extends ActionOn<R>, Context = unknown, D extends boolean = false,
  const I extends Include<R> = IncludesNothing,
>(
  resource: R,
  action: A,
  options?: ActionOptions<RecordTypes<R, I>, A, Context, D, I> & Exact<R, { readonly include: I }, 'include'>,
): ActionResult<RecordTypes<R, I>, A, Context, D>
/** Writes to a resource whose name is known only at run time. */
export function useAutoApiMutation<
  N extends string, L extends OnlyAtRunTime<N>, const A extends Action, Context = unknown, D extends boolean = false,
>(
  resource: N, action: A, options?: ActionOptions<AnyRecord, A, Context, D>, ...literal: L
): ActionResult<AnyRecord, A, Context, D>
export function useAutoApiMutation(resource: string, action: Action, options?: object): unknown {
  return useAction(resource, action, options)
}

/**
 * Creates a record: `mutate({ ...fields })`. Resolves to the new record. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate, isPending, error } = useAutoApiCreate('posts', { onSuccess: post => navigateTo(`/posts/${post.id}`) })
 */
export function useAutoApiCreate<
  R extends ResourceWith<'create'>, Context = unknown, D extends boolean = false, const I extends Include<R> = IncludesNothing,
>(
  resource: R,
  options?: ActionOptions<RecordTypes<R, I>, 'create', Context, D, I> & Exact<R, { readonly include: I }, 'include'>,
): ActionResult<RecordTypes<R, I>, 'create', Context, D>
/** Creates a record of a resource whose name is known only at run time. */
export function useAutoApiCreate<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'create', Context, D>, ...literal: L
): ActionResult<AnyRecord, 'create', Context, D>
export function useAutoApiCreate(resource: string, options?: object): unknown {
  return useAction(resource, 'create', options)
}

/**
 * Updates a record: `mutate({ id, ...fields })`. Resolves to the changed record. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiUpdate('posts', { optimistic: true })
 * mutate({ id: 1, title: 'New' })
 */
export function useAutoApiUpdate<
  R extends ResourceWith<'update'>, Context = unknown, D extends boolean = false, const I extends Include<R> = IncludesNothing,
>(
  resource: R,
  options?: ActionOptions<RecordTypes<R, I>, 'update', Context, D, I> & Exact<R, { readonly include: I }, 'include'> & OptimisticOptions<D>,
): ActionResult<RecordTypes<R, I>, 'update', Context, D>
/** Updates a record of a resource whose name is known only at run time. */
export function useAutoApiUpdate<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'update', Context, D> & OptimisticOptions<D>, ...literal: L
): ActionResult<AnyRecord, 'update', Context, D>
export function useAutoApiUpdate(resource: string, { optimistic = false, ...options }: OptimisticOptions<boolean> = {}): unknown {
  const queryClient = useQueryClient()
  const apply = ({ id, ...updates }: { id: RecordId } & Row) => useAutoApiOptimisticUpdate(queryClient, resource, id, updates).rollback
  return useAction(resource, 'update', options, optimistic ? apply : undefined)
}

interface OptimisticOptions<D extends boolean> {
  /**
   * Changes cached records before the request. If the request fails, the change is rolled back. A dry run changes none.
   * @default false
   */
  readonly optimistic?: D extends true ? false : boolean
}

/**
 * Deletes a record: `mutate(id)` or `mutate({ id, reason })`. Resolves to `{ success, softDeleted, deletionId? }`.
 * `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiDelete('posts')
 * mutate(1)
 */
export function useAutoApiDelete<R extends ResourceWith<'delete'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: ActionOptions<RecordTypes<R>, 'delete', Context, D>,
): ActionResult<RecordTypes<R>, 'delete', Context, D>
/** Deletes a record of a resource whose name is known only at run time. */
export function useAutoApiDelete<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'delete', Context, D>, ...literal: L
): ActionResult<AnyRecord, 'delete', Context, D>
export function useAutoApiDelete(resource: string, options?: object): unknown {
  return useAction(resource, 'delete', options)
}

/**
 * Restores records from the trash: `mutate(id)`, `mutate({ ids })`, or `mutate({ deletionId })` for all records of one cascading deletion.
 * Resolves to the record, or to `{ data, meta }` for several. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiRestore('posts')
 * mutate({ deletionId: post.deletionId })
 */
export function useAutoApiRestore<R extends ResourceWith<'restore'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: ActionOptions<RecordTypes<R>, 'restore', Context, D>,
): ActionResult<RecordTypes<R>, 'restore', Context, D>
/** Restores records of a resource whose name is known only at run time. */
export function useAutoApiRestore<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'restore', Context, D>, ...literal: L
): ActionResult<AnyRecord, 'restore', Context, D>
export function useAutoApiRestore(resource: string, options?: object): unknown {
  return useAction(resource, 'restore', options)
}

/**
 * Removes records permanently: `mutate(id)`, `mutate({ ids })` or `mutate({ deletionId })`. Resolves to `{ success, softDeleted }`, or to
 * `{ data, meta }` for several. `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiPurge('posts')
 * mutate({ ids: [1, 2] })
 */
export function useAutoApiPurge<R extends ResourceWith<'purge'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: ActionOptions<RecordTypes<R>, 'purge', Context, D>,
): ActionResult<RecordTypes<R>, 'purge', Context, D>
/** Removes records permanently of a resource whose name is known only at run time. */
export function useAutoApiPurge<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'purge', Context, D>, ...literal: L
): ActionResult<AnyRecord, 'purge', Context, D>
export function useAutoApiPurge(resource: string, options?: object): unknown {
  return useAction(resource, 'purge', options)
}
