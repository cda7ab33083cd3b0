/** Example of the docs page `audit`: who can read the audit log. */
import { defineResource } from 'nuxt-auto-api/define'
import { auditLog } from '../database/schema'

export default defineResource(auditLog, { permissions: { read: 'auditLog:read' } })
