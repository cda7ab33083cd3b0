/** How rows are read: names become columns, in a fixed order that ends in the primary key. A single record is a list of one. */
import type { Resource } from '../../schema/model'
import type { Call } from '../context'
import { decryptCursor, readCursor } from '../sql/cursor'
import { invalidQuery } from '../error'
import { readableFields, type Selection } from '../access/fields'
import type { Key } from '../../schema/record-id'
import type { GetQuery, ListQuery, Position } from '../parse/list'
import { toOffset } from '../parse/params'
import { equals, type Clause } from '../sql/clause'
import { planAggregates, type AggregatePlan } from './aggregate'
import { planFilter } from './filter'
import { chooseFields, planIncludes } from './include'
import { planOrder } from './order'
import { after, type Order } from '../sql/keyset'
import { planSearch } from './search'
import type { ReadPlan } from './read-plan'

export interface ListPlan extends ReadPlan {
  readonly position: Position
  readonly limit: number
  /** The rows after the cursor; counted and aggregated are all of them. */
  readonly start: readonly Clause[]
  readonly aggregates?: AggregatePlan
  /** What its cursors are encrypted with: the order holds a field the caller cannot read. */
  readonly secret?: string
}

export async function planList(ask: ListQuery, call: Call): Promise<ListPlan> {
  const { resource, engine } = call
  const { position, limit } = ask
  const readable = await readableFields(call)
  const order = planOrder(resource, readable, ask.sort, ask.cursorFields)
  const secret = position.mode === 'cursor' && order.some(({ field }) => !readable.byName.has(field.name)) ? requireSecret(call) : undefined
  return {
    resource,
    trash: ask.trash,
    selection: chooseFields(resource, readable, ask.fields),
    where: planFilter(ask.filter, readable, engine),
    ...planSearch(ask.filter, readable),
    order,
    position: position,
    limit,
    start:
      position.mode === 'cursor' && position.cursor !== ''
        ? [after(engine, order, await valuesOf(position.cursor, resource, order, secret))]
        : [],
    ...(secret !== undefined && { secret }),
    offset: position.mode === 'offset' ? toOffset(position.page, limit) : 0,
    count: position.mode === 'offset' && ask.count,
    ...(ask.aggregates.length > 0 && { aggregates: planAggregates(ask.aggregates, [], readable) }),
    include: await planIncludes(ask.include, call),
  }
}

const valuesOf = (cursor: string, resource: Resource, order: readonly Order[], secret: string | undefined) =>
  secret === undefined ? readCursor(cursor, resource, order) : decryptCursor(secret, cursor, resource, order)

/** @throws `INVALID_QUERY` */
function requireSecret({ api, ctx }: Call): string {
  const secret = api.secret?.(ctx.event)
  if (secret === undefined)
    throw invalidQuery(
      'This list cannot be read by cursor, because the server has no secret to encrypt its cursors with. Ask by `page`.',
      'cursor',
    )
  return secret
}

export interface GetPlan extends ReadPlan {
  readonly key: Key
}

export async function planGet(ask: GetQuery, call: Call): Promise<GetPlan> {
  const { resource } = call
  const selection = chooseFields(resource, await readableFields(call), ask.fields)
  return {
    resource,
    trash: ask.trash,
    key: ask.key,
    ...byKey(resource, ask.key, selection),
    include: await planIncludes(ask.include, call),
  }
}

/** One record by its key. */
export function byKey(resource: Resource, key: Key, selection: Selection): Omit<ReadPlan, 'resource' | 'trash' | 'include'> {
  return { selection, where: keyClauses(resource, key), order: [], count: false }
}

export function keyClauses({ primaryKey }: Resource, key: Key): readonly Clause[] {
  return primaryKey.map((field, index) => equals(field, key[index]))
}
