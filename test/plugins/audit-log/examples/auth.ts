/** Example of the docs page `audit`: who can read the audit log. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { auditLog } from './schema'

export const auditLogAuth = defineResourceAuth<typeof auditLog>({ permissions: { read: 'auditLog:read' } })
