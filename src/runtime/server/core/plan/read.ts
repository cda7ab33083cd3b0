/** How rows are read: names become columns, in a fixed order that ends in the primary key. A single record is a list of one. */
import type { Resource } from '../../schema/model'
import type { Call } from '../context'
import { readCursor } from '../cursor'
import { readableFields, type Selection } from '../fields'
import type { Key } from '../parse/key'
import type { GetAsk, ListAsk, Place } from '../parse/list'
import { toOffset } from '../parse/params'
import { equals, type Clause } from '../query'
import { planAggregates, type AggregatePlan } from './aggregate'
import { planFilter } from './filter'
import { chooseFields, planIncludes } from './include'
import { after, planOrder } from './order'
import type { ReadPlan } from './tree'

export interface ListPlan extends ReadPlan {
  readonly place: Place
  readonly limit: number
  /** The rows after the cursor; counted and aggregated are all of them. */
  readonly start: readonly Clause[]
  readonly aggregates?: AggregatePlan
}

export async function planList(ask: ListAsk, call: Call): Promise<ListPlan> {
  const { resource, engine } = call
  const { place, limit } = ask
  const readable = await readableFields(call)
  const order = planOrder(resource, readable, ask.sort, ask.cursorFields)
  return {
    resource,
    trash: ask.trash,
    selection: chooseFields(resource, readable, ask.fields),
    where: planFilter(ask.filter, readable, engine),
    order,
    place,
    limit,
    start: place.mode === 'cursor' && place.cursor !== '' ? [after(engine.dialect, order, readCursor(place.cursor, resource, order))] : [],
    offset: place.mode === 'offset' ? toOffset(place.page, limit) : 0,
    count: place.mode === 'offset' && ask.count,
    ...ask.aggregates.length > 0 && { aggregates: planAggregates(ask.aggregates, [], readable) },
    include: await planIncludes(ask.include, call),
  }
}

export interface GetPlan extends ReadPlan {
  readonly key: Key
}

export async function planGet(ask: GetAsk, call: Call): Promise<GetPlan> {
  const { resource } = call
  const selection = chooseFields(resource, await readableFields(call), ask.fields)
  return { resource, trash: ask.trash, key: ask.key, ...byKey(resource, ask.key, selection), include: await planIncludes(ask.include, call) }
}

/** One record by its key. */
export function byKey(resource: Resource, key: Key, selection: Selection): Omit<ReadPlan, 'resource' | 'trash' | 'include'> {
  return { selection, where: keyClauses(resource, key), order: [], count: false }
}

export function keyClauses({ primaryKey }: Resource, key: Key): readonly Clause[] {
  return primaryKey.map((field, index) => equals(field, key[index]))
}
