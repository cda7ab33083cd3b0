/** The result of a write. The response is built from it. */
import { bulkFailed, describeFailures, type DescribedFailure } from './bulk-error'
import { toId } from '../../schema/record-id'
import type { WritePlan } from '../plan/write'
import { toRevisedValues } from '../plan/revision'
import type { RecordValues } from '../read/rows/decode'
import type { Affected } from './count-affected'
import type { Item, WrittenItem } from './items'

export interface WrittenRecord extends WrittenItem {
  readonly index: number
  readonly id: string
  /** The related records that the request includes, as JSON. */
  readonly included?: RecordValues
}

export interface WriteResult {
  readonly plan: WritePlan
  /** The results of the written items, in the order of the request. */
  readonly written: readonly WrittenRecord[]
  /** The failed items of a batch that is not atomic. */
  readonly failures: readonly DescribedFailure[]
  /** The number of rows in a cascade group, across all resources. */
  readonly total?: number
  /** The rows that a dry run of a delete, a purge or a restore would change. */
  readonly affected?: Affected
  /** The revision of the written record before after-hooks change it, if the response has an entity tag. */
  readonly revision?: string
}

/** @throws `BULK_FAILED` when every item failed. */
export function toResult(plan: WritePlan, items: readonly Item[], written: ReadonlyMap<number, WrittenItem>): WriteResult {
  const failed = items.filter(item => item.error !== undefined)
  if (failed.length === items.length && failed.length > 0) throw bulkFailed('nothing was written', failed)
  const record = plan.tagged && !plan.bulk ? written.get(0)?.record : undefined
  return {
    plan,
    ...record && plan.revise && { revision: plan.revise(toRevisedValues(plan.tagged!, record)) },
    failures: describeFailures(failed),
    written: items.flatMap((item) => {
      const result = written.get(item.index)
      if (!result) return []
      return [{ ...result, index: item.index, id: result.record ? idOf(plan, result.record) : toId(plan.resource, item.key!) }]
    }),
  }
}

function idOf({ resource }: WritePlan, record: RecordValues): string {
  return toId(resource, resource.primaryKey.map(field => record[field.name]))
}
