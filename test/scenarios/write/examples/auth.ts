/** The authorization of the docs page `trash`. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { projects } from './schema'

export const projectsAuth = defineResourceAuth<typeof projects>({
  permissions: {
    read: true,
    create: 'projects:write',
    update: 'projects:write',
    delete: 'projects:delete',
    restore: 'projects:delete', // without it: as `update`
    purge: 'projects:purge', // without it: as `delete`
    viewDeleted: 'projects:delete', // without it: as `restore`
  },
  softDelete: { retentionDays: 30 },
})
