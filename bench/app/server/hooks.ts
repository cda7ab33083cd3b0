/** Measures the overhead of hooks: one before and one after each operation, without effect. */
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
