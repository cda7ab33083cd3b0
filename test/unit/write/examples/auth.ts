/** Who may do what in docs/trash.md. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { projects } from './schema'

export const projectsAuth = defineResourceAuth<typeof projects>({
  permissions: {
    read: true,
    create: 'projects:write',
    update: 'projects:write',
    delete: 'projects:delete',
    restore: 'projects:delete', // else: as for `update`
    purge: 'projects:purge', // else: as for `delete`
    viewDeleted: 'projects:delete', // else: as for `restore`
  },
  softDelete: { retentionDays: 30 },
})
