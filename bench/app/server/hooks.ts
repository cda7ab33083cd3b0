/** What hooks cost by being there: one before and one after each operation, which change nothing. */
import { defineResourceHooks } from 'nuxt-auto-api/define'
import type { posts } from './database/schema'

export const postsHooks = defineResourceHooks<typeof posts>({
  beforeList: () => {},
  afterList: records => records,
  beforeGet: () => {},
  afterGet: record => record,
  beforeCreate: () => {},
  afterCreate: record => record,
})
