/** The Nitro task `auto-api:trash`: enforces `softDelete.retentionDays`. */
import { purgeExpiredTrash } from '../utils/trash'

export default {
  meta: { name: 'auto-api:trash', description: 'Purge what has been in the trash for longer than retentionDays' },
  async run(event?: object) {
    return { result: await purgeExpiredTrash(new Date(), event) }
  },
}
