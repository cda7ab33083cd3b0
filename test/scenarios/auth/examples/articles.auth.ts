/** Example of the docs pages `endpoints` and `authorization`: a named gate, and a permission that an evaluator decides. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { articles } from './schema'

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
