/** Composables that write a list of records: all of them, or none. */
import type { Exact } from '../../shared/types/exact'
import type { Include } from '../../shared/types/query'
import type { ResourceWith } from '../../shared/types/resources'
import type { RecordTypes } from '../actions'
import type { AnyRecord, OnlyAtRunTime } from '../any-resource'
import { useAction, type ActionOptions, type ActionResult, type IncludesNothing } from '../write'

/**
 * Creates all records of a list, or none: `mutate([{ ...fields }, …])`. Resolves to `{ data, meta }`. `mutateAsync` rejects with an
 * `AutoApiError`, whose `errors` name the failed items.
 * @example
 * const { mutate } = useAutoApiBulkCreate('tags')
 * mutate([{ name: 'Sport', slug: 'sport' }, { name: 'Culture', slug: 'culture' }])
 */
export function useAutoApiBulkCreate<
  R extends ResourceWith<'create'>, Context = unknown, D extends boolean = false, const I extends Include<R> = IncludesNothing,
>(
  resource: R,
  options?: ActionOptions<RecordTypes<R, I>, 'bulkCreate', Context, D, I> & Exact<R, { readonly include: I }, 'include'>,
): ActionResult<RecordTypes<R, I>, 'bulkCreate', Context, D>
/** Creates all records of a list of a resource whose name is known only at run time. */
export function useAutoApiBulkCreate<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'bulkCreate', Context, D>, ...literal: L
): ActionResult<AnyRecord, 'bulkCreate', Context, D>
export function useAutoApiBulkCreate(resource: string, options?: object): unknown {
  return useAction(resource, 'bulkCreate', options)
}

/**
 * Updates all records of a list, or none: `mutate([{ id, data }, …])`. Resolves to `{ data, meta }`. `mutateAsync` rejects with an
 * `AutoApiError`, whose `errors` name the failed items.
 * @example
 * const { mutate } = useAutoApiBulkUpdate('posts')
 * mutate(chosen.map(id => ({ id, data: { status: 'archived' } })))
 */
export function useAutoApiBulkUpdate<
  R extends ResourceWith<'update'>, Context = unknown, D extends boolean = false, const I extends Include<R> = IncludesNothing,
>(
  resource: R,
  options?: ActionOptions<RecordTypes<R, I>, 'bulkUpdate', Context, D, I> & Exact<R, { readonly include: I }, 'include'>,
): ActionResult<RecordTypes<R, I>, 'bulkUpdate', Context, D>
/** Updates all records of a list of a resource whose name is known only at run time. */
export function useAutoApiBulkUpdate<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'bulkUpdate', Context, D>, ...literal: L
): ActionResult<AnyRecord, 'bulkUpdate', Context, D>
export function useAutoApiBulkUpdate(resource: string, options?: object): unknown {
  return useAction(resource, 'bulkUpdate', options)
}

/**
 * Deletes all records of a list, or none: `mutate([1, 2, 3])`. Resolves to `{ data, meta }`. `mutateAsync` rejects with an `AutoApiError`,
 * whose `errors` name the failed items.
 * @example
 * const { mutate } = useAutoApiBulkDelete('posts')
 * mutate([1, 2, 3])
 */
export function useAutoApiBulkDelete<R extends ResourceWith<'delete'>, Context = unknown, D extends boolean = false>(
  resource: R,
  options?: ActionOptions<RecordTypes<R>, 'bulkDelete', Context, D>,
): ActionResult<RecordTypes<R>, 'bulkDelete', Context, D>
/** Deletes all records of a list of a resource whose name is known only at run time. */
export function useAutoApiBulkDelete<N extends string, L extends OnlyAtRunTime<N>, Context = unknown, D extends boolean = false>(
  resource: N, options?: ActionOptions<AnyRecord, 'bulkDelete', Context, D>, ...literal: L
): ActionResult<AnyRecord, 'bulkDelete', Context, D>
export function useAutoApiBulkDelete(resource: string, options?: object): unknown {
  return useAction(resource, 'bulkDelete', options)
}
