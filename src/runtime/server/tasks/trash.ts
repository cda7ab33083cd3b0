/** The Nitro task `auto-api:trash`: enforces `softDelete.retentionDays`. */
import { useApi } from '../runtime'
import { purgeExpiredTrash } from '../utils/trash'

/** The event of a Nitro task. Schedulers set `scheduledTime` or the context of the platform. A task that is run by hand has neither. */
interface TaskEvent {
  readonly payload?: { readonly scheduledTime?: unknown }
  readonly context?: { readonly cloudflare?: unknown }
}

const NAME = 'auto-api:trash'

export default {
  meta: { name: NAME, description: 'Purge what has been in the trash for longer than retentionDays' },
  async run(event?: TaskEvent) {
    const now = new Date()
    const isScheduled = event?.payload?.scheduledTime !== undefined || event?.context?.cloudflare !== undefined
    if (isScheduled && !await useApi(event).scheduler.claimScheduled(NAME, now, event)) return { result: {} }
    return { result: await purgeExpiredTrash(now, event) }
  },
}
