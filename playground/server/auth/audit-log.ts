/** The audit log: editors see the changes of records that they can see, administrators all of their organization. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { auditLog } from '../database/schema'

export const auditLogAuth = defineResourceAuth<typeof auditLog>({ permissions: { read: 'auditLog:read' } })
