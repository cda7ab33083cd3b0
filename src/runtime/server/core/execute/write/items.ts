/** The items of a write on their way through the checks: each keeps its own failure, until it is told which of them count. */
import type { AutoApiContext } from '../../../registration'
import { bulkFailed } from '../../bulk-error'
import type { Key } from '../../../schema/record-id'
import type { WriteItem } from '../../parse/write'
import type { ReadPlan } from '../../plan/read-plan'
import type { WritePlan } from '../../plan/write'
import type { Scoped } from '../../access/row-scope'
import type { Field } from '../../../schema/field'
import type { Row } from '../../../engines/engine'
import type { Rows } from '../rows/rows'

export interface Item {
  readonly index: number
  readonly key?: Key
  readonly id?: string | number
  /** What counts as sent: the keys of what the schema returned. */
  readonly sent: readonly string[]
  /** The keys in the client's JSON. */
  readonly sentKeys?: readonly string[]
  /** What will be written; a before-hook may replace it. */
  values: Record<string, unknown>
  /** What the client's values were before the hooks saw them. */
  readonly original: Readonly<Record<string, unknown>>
  readonly ctx: AutoApiContext
  /** The row as it was found, by the columns that were read. */
  row?: Row
  /** The rows of others that it points at, to be looked at once more when it is written. */
  references?: readonly Reference[]
  error?: unknown
}

export interface Reference {
  /** The same object for every item, so that one statement looks for all. */
  readonly target: {
    readonly plan: Scoped<ReadPlan>
    readonly fields: readonly Field[]
    /** The rows as they were when code judged them. */
    readonly judged?: Rows
  }
  /** The field to name when it points nowhere. */
  readonly name: string | undefined
  readonly values: readonly unknown[]
}

export function toItems({ items }: WritePlan, createContext: () => AutoApiContext): Item[] {
  return items.map(({ key, data, id, error }: WriteItem, index) => ({
    index,
    key,
    id,
    sent: data?.sent ?? [],
    sentKeys: data?.given ?? [],
    values: { ...data?.values },
    original: data?.values ?? {},
    ctx: createContext(),
    ...error && { error },
  }))
}

export const withoutError = (items: readonly Item[]) => items.filter(item => item.error === undefined)

/** Where all items must pass, one that failed stops the others. @throws The failure of a single write, or `BULK_FAILED`. */
export function stopOnFailure(plan: WritePlan, items: readonly Item[]): void {
  if (!plan.atomic) return
  const failed = items.filter(item => item.error !== undefined)
  if (failed.length === 0) return
  throw plan.bulk ? bulkFailed('nothing was written', failed) : failed[0]!.error
}

/** Does one thing for each item that has not failed, and keeps what it throws. */
export async function forEachItem(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  for (const item of withoutError(items)) {
    try {
      await run(item)
    }
    catch (error) {
      item.error = error
    }
  }
}
