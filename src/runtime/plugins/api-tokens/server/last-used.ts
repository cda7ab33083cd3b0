/** Records when a token was last used: at most once a minute for each token, after the response. */
import { and, isNull, lt, or, type Column, type SQL, type Table } from 'drizzle-orm'
import type { ApiEvent } from '../../../server/kit/http'
import { logError, runAfterResponse } from '../../../server/kit/process'
import type { PluginTable } from '../../../server/plugin/table'
import type { TokenRow } from './row'

const MINUTE = 60_000
/** Tokens whose last write one server remembers. */
const MAX_KNOWN = 10_000

export function createLastUsed(access: PluginTable, table: Table): (row: TokenRow, event: ApiEvent) => void {
  /** The time of the last write by token id, the oldest first. */
  const written = new Map<string, number>()
  const { lastUsedAt } = table as unknown as { readonly lastUsedAt: Column }

  return (row, event) => {
    const now = Date.now()
    const last = Math.max(row.lastUsedAt?.getTime() ?? 0, written.get(row.id) ?? 0)
    // A time in the future comes from another server's clock. It must not stop the writes until then.
    if (now - last < MINUTE && last - now < MINUTE) return
    written.delete(row.id)
    if (written.size >= MAX_KNOWN) written.delete(written.keys().next().value!)
    written.set(row.id, now)
    const used = new Date(now)
    // Another server can have written since the row was read.
    const isOld = or(isNull(lastUsedAt), lt(lastUsedAt, new Date(now - MINUTE + 1)))
    runAfterResponse(event, async () => {
      try {
        await access.update(event, { lastUsedAt: used }, and(access.matches(table, 'id', row.id), isOld) as SQL)
      }
      catch (error) {
        logError({ event }, 'apiTokens: the time at which a token was used could not be stored.', error)
      }
    })
  }
}
