/** Organisations: one sees one's own, and administrators may rename it. Creating and deleting are disabled in the registration. */
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
