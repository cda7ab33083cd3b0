/** Organizations: callers see their own; administrators can rename it. The registration disables create, delete and purge. */
import { eq } from 'drizzle-orm'
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { organizations } from '../database/schema'
import { nothing } from './visibility'

export const organizationsAuth = defineResourceAuth<typeof organizations>({
  permissions: {
    read: true,
    update: 'organization:manage',
  },
  listFilter: (table, { tenant }) => typeof tenant?.id === 'number' ? eq(table.id, tenant.id) : nothing,
})
