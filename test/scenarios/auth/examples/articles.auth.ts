/** Example of docs/2.guides/12.endpoints.md and docs/2.guides/2.authorization.md: a named gate, and a permission that an evaluator decides. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { articles } from '../../../support/desk'

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
