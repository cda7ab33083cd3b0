/** The documentation's example: rules of a resource, with a named gate and a permission of a kind of its own. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { articles } from '../desk'

export const articlesAuth = defineResourceAuth<typeof articles>({
  permissions: {
    read: true,
    update: 'articles:write',
    delete: { plan: 'pro' },
  },
  custom: {
    publish: { permissions: { update: 'articles:publish' } },
  },
})
