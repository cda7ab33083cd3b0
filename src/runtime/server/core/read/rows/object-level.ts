/** Checks rows by an object-level rule in batches, with a limit, so that one request does not block all others. */
import { LIMITS } from '../../../../shared/limits'
import type { Row } from '../../../engines/engine'
import type { Call } from '../../request/session'
import { limitExceeded } from '../../error'
import { yieldToEventLoop } from '../../process/turns'

/** The default for the maximum number of rows that a scan checks. It is never lower than the maximum of a count. */
export const maxScanRows = ({ api: { config } }: Call) => Math.max(LIMITS.scan, config.objectLevelMaxRows)

export const tooManyRowsToCheck = (max: number, advice: string, parameter?: string) =>
  limitExceeded(`More than ${max} rows would have to be checked one by one. ${advice}`, parameter)

type Values = Record<string, unknown>

/** Returns the accepted rows in their original order. */
export async function filterAccepted(
  rows: readonly Row[],
  decode: (row: Row) => Values,
  accepts: (row: Values) => Promise<boolean>,
): Promise<Row[]> {
  const accepted: Row[] = []
  for (let from = 0; from < rows.length; from += LIMITS.scanBatch) {
    if (from > 0) await yieldToEventLoop()
    const batch = rows.slice(from, from + LIMITS.scanBatch)
    const results = await Promise.all(batch.map(row => accepts(decode(row))))
    for (const [index, row] of batch.entries()) if (results[index]) accepted.push(row)
  }
  return accepted
}
