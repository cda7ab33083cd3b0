/** The Nitro task `auto-api:trash`: enforces `softDelete.retentionDays`. */
import { isStopping, keepRunning } from '../core/process/in-flight'
import { useApi } from '../runtime'
import { purgeExpiredTrash } from '../utils/trash'

/** The event of a Nitro task. Schedulers set `scheduledTime` or the context of the platform. A task that is run by hand has neither. */
interface TaskEvent {
  readonly payload?: { readonly scheduledTime?: unknown }
  readonly context?: { readonly cloudflare?: unknown }
}

const NAME = 'auto-api:trash'

/** @returns the number of purged rows by resource */
async function purge(event?: TaskEvent): Promise<Awaited<ReturnType<typeof purgeExpiredTrash>>> {
  const now = new Date()
  const isScheduled = event?.payload?.scheduledTime !== undefined || event?.context?.cloudflare !== undefined
  if (isScheduled && (isStopping() || !await useApi(event).scheduler.claimScheduled(NAME, now, event))) return {}
  return purgeExpiredTrash(now, event)
}

export default {
  meta: { name: NAME, description: 'Purge what has been in the trash for longer than retentionDays' },
  run: async (event?: TaskEvent) => ({ result: await keepRunning(purge(event)) }),
}
