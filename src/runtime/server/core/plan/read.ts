/** Plans the reads of lists and of single records: replaces names with columns, and ends the order of a list with the primary key. */
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { decryptCursor, readCursor } from '../sql/cursor'
import { invalidQuery } from '../error'
import { readableFields, type Selection } from '../access/fields'
import type { Key } from '../../schema/record-id'
import type { Secrets } from '../process/secret'
import type { GetQuery, ListQuery, Position } from '../parse/list'
import { toOffset } from '../parse/params'
import { planAggregates, type AggregatePlan } from './aggregate'
import { planFilter, relatedReads } from './filter'
import { chooseFields, planRelations } from './include'
import { assertSteady, planOrder } from './order'
import { planRelatedSorts, sortsRelated } from './related-order'
import type { SortedBy } from '../sql/keyset'
import { andThen, type Awaitable } from '../awaitable'
import type { ReadPlan } from './read-plan'
import { equals } from '../sql/conditions'
import type { Where } from '../sql/where'

export interface ListPlan extends ReadPlan {
  readonly position: Position
  readonly limit: number
  /** The values of the cursor, one per field of the order. The page has the rows after them. Counts and aggregates ignore them. */
  readonly reached?: readonly unknown[]
  readonly aggregates?: AggregatePlan
  /** The exact count ends at this number of rows. */
  readonly countLimit?: number
  /** Whether the list contains the related rows of one record. */
  readonly ofRecord?: true
  /** Encrypts the cursors. It is set only if the order has a field that the caller cannot read. */
  readonly secrets?: Secrets
}

export async function planList(query: ListQuery, call: Call): Promise<ListPlan> {
  const { resource } = call
  const { position, limit, sort } = query
  const filters = relatedReads(call)
  const reading = readableFields(call)
  const readable = await reading
  const relatedSorts = sortsRelated(sort) ? await planRelatedSorts(sort, resource, readable, call, filters) : undefined
  const order = planOrder(resource, readable, sort, query.cursorFields, 'sort', relatedSorts)
  if (position.mode === 'cursor') assertSteady(order, ' Use `page`.')
  const secrets = position.mode === 'cursor' && order.some(isUnreadable(readable)) ? requireSecrets(call) : undefined
  const selection = chooseFields(resource, readable, query.fields)
  const filtering = planFilter(query.filter, resource, call, filters)
  const filter = await filtering
  const reached = position.mode === 'cursor' && position.cursor !== '' ? cursorValues(position.cursor, resource, order, secrets) : undefined
  const values = reached && await reached
  const aggregates = query.aggregates.length > 0 ? planAggregates(query.aggregates, [], readable) : undefined
  // The last step, because it can refuse the caller.
  const relating = planRelations(query, call, filters)
  const related = await relating
  return {
    resource,
    trash: query.trash,
    selection,
    ...filter,
    order,
    position,
    limit,
    ...values && { reached: values },
    ...secrets && { secrets },
    offset: position.mode === 'offset' ? toOffset(position.page, limit) : 0,
    count: position.mode === 'offset' && query.count,
    ...query.countLimit !== undefined && { countLimit: query.countLimit },
    ...aggregates && { aggregates },
    ...related,
  }
}

/** A caller can read every value of related rows by which they can sort. */
const isUnreadable = ({ byName }: Selection) => ({ field, path }: SortedBy) => path === undefined && !byName.has(field.name)

const cursorValues = (cursor: string, resource: Resource, order: readonly SortedBy[], secrets: Secrets | undefined) =>
  secrets ? decryptCursor(secrets, cursor, resource, order) : readCursor(cursor, resource, order)

/** @throws `INVALID_QUERY` if the server has no secret. */
function requireSecrets({ api, ctx }: Call): Secrets {
  const secrets = api.secrets?.(ctx.event)
  if (!secrets)
    throw invalidQuery(
      'This list cannot be read by cursor, because the server has no secret to encrypt its cursors with. Use `page`.',
      'cursor',
    )
  return secrets
}

export interface GetPlan extends ReadPlan {
  readonly key: Key
}

/** A promise only if a field has a rule, or a related resource is included. */
export function planGet(query: GetQuery, call: Call): Awaitable<GetPlan> {
  const { resource } = call
  const { key, trash, fields } = query
  return andThen(readableFields(call), (readable) => {
    const selection = chooseFields(resource, readable, fields)
    return andThen(planRelations(query, call), related =>
      ({ resource, trash, key, selection, where: keyClauses(resource, key), order: [], count: false, ...related }))
  })
}

/** The part of a plan that reads one record by its key. */
export function byKey(resource: Resource, key: Key, selection: Selection): Omit<ReadPlan, 'resource' | 'trash' | 'include'> {
  return { selection, where: keyClauses(resource, key), order: [], count: false }
}

export function keyClauses({ primaryKey }: Resource, key: Key): readonly Where[] {
  return primaryKey.length === 1 ? [equals(primaryKey[0]!, key[0])] : primaryKey.map((field, index) => equals(field, key[index]))
}
