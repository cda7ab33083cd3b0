/** What the audit log adds outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'audit-log',
  imports: ['useAutoApiAuditLog', 'useAutoApiAuditLogInfinite', 'useAutoApiHistory', 'useAutoApiHistoryInfinite', 'useAutoApiRevert'],
  types: ['AutoApiAuditEntry'],
})
