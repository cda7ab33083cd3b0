/** The items of a write. Each item keeps its own error until the write decides which errors fail the request. */
import { attempt, inTurn, type Awaitable } from '../awaitable'
import type { Table } from 'drizzle-orm'
import type { AutoApiContext } from '../../registration'
import type { Key } from '../../schema/record-id'
import type { Path } from '../error'
import type { IfMatch } from '../parse/if-match'
import type { WriteItem } from '../parse/write'
import type { ReadPlan } from '../plan/read-plan'
import type { WritePlan } from '../plan/write'
import type { WriteCondition } from '../sql/condition'
import type { Scoped } from '../access/row-scope'
import type { Field } from '../../schema/field'
import type { Row } from '../../engines/engine'
import type { RecordValues } from '../read/rows/decode'
import type { Rows } from '../read/rows/rows'
import type { Where } from '../sql/where'

/** A row that a request names by its key. `loadTargets` sets `row` and, if the caller cannot use the row, `error`. */
export interface Target {
  readonly key?: Key
  /** The row as it was read, with the columns of `targetColumns`. */
  row?: Row
  error?: unknown
}

export interface Item extends Target {
  /** The position in the request. */
  readonly index: number
  /** The id as the client sent it. */
  readonly id?: string | number
  /** The keys that validation returned: the columns that the client writes. */
  readonly sent: readonly string[]
  /** The keys in the client's JSON, before validation. */
  readonly sentKeys?: readonly string[]
  /** The values to write. A before-hook can replace them. */
  values: Record<string, unknown>
  /** The client's values before the hooks. */
  readonly original: Readonly<Record<string, unknown>>
  readonly ctx: AutoApiContext
  /** The tags of which the record must have one. */
  readonly ifMatch?: IfMatch
  /** The conditions of the request and of the before-hooks that the row must meet. */
  conditions?: readonly WriteCondition[]
  /** Whether the before-hooks must not run, because they ran in an earlier try or there are none for this item. */
  isHooked?: boolean
  /** Values that a before-hook must not change, such as the keys of a link. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** The rows that the foreign keys of the item reference. The commit checks them again. */
  references?: readonly Reference[]
  /** Whether an earlier item of the write updates the same row: the values that were read are not those that this item finds. */
  isRepeated?: true
  /** The foreign keys that need no check as long as the row keeps their values. */
  unchangedKeys?: readonly Where[]
  /** The fields whose values the records of earlier items decide. */
  readonly late?: ReadonlyMap<string, LateReference>
  /** The record that an earlier item decides, instead of `key`. */
  readonly lateKey?: LateReference
  /** Whether only the commit can find the row, because an earlier item of the write can make it or make it visible. */
  isDeferred?: boolean
  /** For a child in the body of a record: the index of this record, and the place in its body. */
  readonly place?: { readonly root: number, readonly path: Path }
  /** Count the rows that the parts of a try insert. Without it, the item has the counts of an earlier try. */
  recounts?: ((parts: readonly PartItems[]) => void)[]
  /** Receive the record of the item as soon as it is written, before the next statement of the commit. */
  dependents?: ((record: RecordValues) => void)[]
}

/** The part of a write, as far as its items need it. */
export interface PartItems {
  readonly plan: Scoped<WritePlan>
  readonly items: readonly Item[]
}

/** A field of the record of an earlier item. */
export interface LateReference {
  /** The part of the earlier item. */
  readonly part: { readonly plan: Scoped<WritePlan> }
  readonly item: Item
  readonly field: Field
  /** The value that hooks receive, if it is known before the commit. */
  readonly early?: unknown
  /** Whether hooks cannot replace the value. */
  readonly fixed?: true
}

export interface Reference {
  /** All items share this object for a foreign key, so that one statement checks all of them. */
  readonly target: {
    readonly plan: Scoped<ReadPlan>
    readonly fields: readonly Field[]
    /** The rows that an object-level rule accepted, as they were read. */
    readonly acceptedRows?: Rows
  }
  /** The field that an error names. It is undefined if the error must not name a field. */
  readonly name: string | undefined
  /** Driver values, in the order of `target.fields`. */
  readonly values: readonly unknown[]
}

/** Returns the index of the next item. Indexes grow in the order of the commit. */
export type NextIndex = () => number

/** The result of one item. */
export interface WrittenItem {
  /** The written record with its primary key. It is absent for deleted rows. */
  record?: RecordValues
  deletionId?: string
}

/** The context that `contextOf` returns is for hooks only. */
export function toItems({ items }: WritePlan, contextOf: () => AutoApiContext): Item[] {
  // Every item has the same properties in the same order, which makes them several times as fast to create and to read.
  return items.map(({ key, data, id, condition, ifMatch, error }: WriteItem, index): Item => ({
    index,
    key,
    id,
    sent: data?.sent ?? [],
    sentKeys: data?.given ?? [],
    values: { ...data?.values },
    original: data?.values ?? {},
    ctx: contextOf(),
    conditions: condition && [condition],
    ifMatch,
    error,
    row: undefined,
    references: undefined,
    unchangedKeys: undefined,
  }))
}

export const keysOf = (items: readonly Item[]): readonly Key[] => items.map(({ key }) => key!)

/** The rows that the request names, by table. */
export const namedRowsOf = ({ resource, groupRows }: WritePlan, items: readonly Item[]): ReadonlyMap<Table, readonly Key[]> =>
  groupRows ?? new Map([[resource.table, keysOf(items)]])

export const withoutError = <T extends Target>(items: readonly T[]) => items.filter(item => item.error === undefined)

/** Calls `run` for each item without an error. What `run` throws becomes the error of the item, also if it is `undefined`. */
export function forEachItem(items: readonly Item[], run: (item: Item) => Awaitable<void>): Awaitable<void> {
  const fail = (item: Item, error: unknown) => void (item.error = error ?? new Error('Code of the app threw nothing.'))
  return inTurn(withoutError(items), item => attempt(() => run(item), error => fail(item, error)))
}
