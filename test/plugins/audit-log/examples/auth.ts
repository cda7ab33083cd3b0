/** Example of docs/4.plugins/1.audit.md: who can read the audit log. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { auditLog } from './schema'

export const auditLogAuth = defineResourceAuth<typeof auditLog>({ permissions: { read: 'auditLog:read' } })
