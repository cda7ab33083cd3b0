/** Tags: everybody reads them, editors keep them in order. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { tags } from '../database/schema'

export const tagsAuth = defineResourceAuth<typeof tags>({
  permissions: { read: true, create: 'tags:edit', update: 'tags:edit', delete: 'tags:edit' },
})
