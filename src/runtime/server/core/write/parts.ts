/** The parts of a write: each has the items of one resource and one operation. Most writes have one part. */
import type { ForeignKeyFacts } from '../../schema/drizzle/foreign-keys'
import type { Scoped } from '../access/row-scope'
import type { WritePlan } from '../plan/write'
import type { Awaitable } from '../awaitable'
import type { WriteOperation } from '../commit/operation'
import type { ChangedRelation } from '../extensions/changes'
import type { Call } from '../request/session'
import { placed } from '../error'
import { bulkFailed, type ItemFailure } from './bulk-error'
import type { Item, WrittenItem } from './items'

export interface WritePart {
  readonly plan: Scoped<WritePlan>
  /** The request in the context of the part's resource and operation. */
  readonly call: Call
  /** Their indexes are unique among all parts. */
  readonly items: readonly Item[]
  /** The results of the items, by index. The commit fills this map. */
  readonly written: Map<number, WrittenItem>
  /** Whether the rows of the items were loaded with the row rules of the operation. */
  readonly isLoaded?: boolean
  /** Whether the rows were found a moment ago. A row that is missing now was changed by another request. */
  readonly isFound?: boolean
  /** Whether earlier parts of the write can make the rows, or make them visible. Rows that do not exist yet are left to the commit. */
  readonly isStep?: boolean
  /** Of a part that changes the links of a record in a body. Its first item stands for all of them. */
  readonly links?: LinkChanges
  /** Whether the plan has checked the rows of this foreign key. The rows of the other foreign keys are then read before the commit. */
  readonly isChecked?: (key: ForeignKeyFacts) => boolean
}

/** Replaces the steps that other parts have. */
export interface LinkChanges {
  /** Plans the change of a record that was loaded: sets the items of the part, or their errors. */
  readonly load: () => Awaitable<void>
  readonly runBefore: () => Awaitable<void>
  readonly operations: (time: Date) => readonly WriteOperation[]
  /** Locks the records to link, before the operations of all parts. */
  readonly locks: () => readonly WriteOperation[]
  readonly runAfter: (errors: unknown[]) => Awaitable<void>
  /** Reads the records to link again after a commit that failed. Returns an item with the error. */
  readonly findReason: (reason: unknown) => Awaitable<Item>
  readonly relation: ChangedRelation
  /** The table of the linked records. */
  readonly lockedTable: string
  /** The table of the links. */
  readonly table: string
  /** The record, by the columns that reference it and by its key or its item. `undefined` if only the commit knows the record. */
  readonly owner: string | Item | undefined
  readonly parent: Item
}

export const toPart = (plan: Scoped<WritePlan>, call: Call, items: readonly Item[]): WritePart =>
  ({ plan, call, items, written: new Map() })

export const itemsOf = (parts: readonly WritePart[]): readonly Item[] =>
  parts.length === 1 ? parts[0]!.items : parts.flatMap(({ items }) => items)

export const hasFailed = ({ error }: Pick<Item, 'error'>): boolean => error !== undefined

/** Items that were refused before they had a plan. */
export interface Refused {
  readonly refused?: readonly ItemFailure[]
}

/**
 * Stops an atomic write if one of its items has failed.
 * @throws The error of a single write, or `BULK_FAILED` with the failed items of all parts.
 */
export function stopOnFailure(parts: readonly WritePart[], { refused = [] }: Refused = {}): void {
  const { atomic, bulk } = parts[0]!.plan
  if (!atomic) return
  const items = itemsOf(parts).filter(hasFailed)
  // The error of a record explains those of its children.
  const roots = new Set(items.flatMap(({ place, index }) => place ? [] : [index]))
  const own = items.filter(({ place }) => !place || !roots.has(place.root))
  const failed: readonly ItemFailure[] = [...refused, ...own.map(item => failureOf(item, item.error))]
  if (failed.length === 0) return
  throw bulk ? bulkFailed('nothing was written', inOrder(failed)) : failed[0]!.error
}

/** The failure of an item in a response. That of a child belongs to its record, and has the place of the child. */
export function failureOf({ index, id, ctx, place }: Item, error: unknown): ItemFailure {
  return place ? { index: place.root, ctx, error: placed(error, place.path) } : { index, id, ctx, error }
}

export const inOrder = <T extends { readonly index: number }>(items: readonly T[]): readonly T[] =>
  [...items].sort((a, b) => a.index - b.index)
