/** Rows that only code can judge: batch by batch, so that one request does not keep all others waiting, and never without a bound. */
import { LIMITS } from '../../../../shared/limits'
import type { Row } from '../../../engines/engine'
import type { Call } from '../../context'
import { limitExceeded } from '../../error'

/** Lets the event loop handle other requests: a synchronous driver never waits for anything. Workers have no `setImmediate`. */
export const yieldToEventLoop = (): Promise<void> => new Promise<void>((resolve) => {
  if (typeof setImmediate === 'function') setImmediate(resolve)
  else setTimeout(resolve, 0)
})

/** Rows that one scan judges at most, where no configured bound applies; never fewer than are counted. */
export const maxScanRows = ({ api: { config } }: Call) => Math.max(LIMITS.scan, config.objectLevelMaxRows)

export const tooManyRowsToCheck = (most: number, advice: string, parameter?: string) =>
  limitExceeded(`More than ${most} rows would have to be judged one by one. ${advice}`, parameter)

type Values = Record<string, unknown>

/** The rows that are accepted, in their order. */
export async function filterAccepted(
  rows: readonly Row[],
  decode: (row: Row) => Values,
  accepts: (row: Values) => Promise<boolean>,
): Promise<Row[]> {
  const accepted: Row[] = []
  for (let from = 0; from < rows.length; from += LIMITS.scanBatch) {
    if (from > 0) await yieldToEventLoop()
    const batch = rows.slice(from, from + LIMITS.scanBatch)
    const verdicts = await Promise.all(batch.map(row => accepts(decode(row))))
    for (const [index, row] of batch.entries()) if (verdicts[index]) accepted.push(row)
  }
  return accepted
}
