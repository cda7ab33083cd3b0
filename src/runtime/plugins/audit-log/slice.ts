/** What the audit log adds outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'audit-log',
  imports: ['useAutoApiAuditLog', 'useAutoApiAuditLogInfinite', 'useAutoApiHistory', 'useAutoApiHistoryInfinite', 'useAutoApiRevert'],
  types: ['AutoApiAuditEntry'],
  admin: {
    views: { audit: { component: 'audit.vue', label: 'Audit log', icon: 'i-lucide-history', replaces: 'auditLog' } },
    parts: [{ slot: 'recordTab', component: 'history-list.vue', features: ['history'], name: 'history', label: 'History' }],
  },
})
