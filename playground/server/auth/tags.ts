/** Tags: every caller reads them, editors change them. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { tags } from '../database/schema'

export const tagsAuth = defineResourceAuth<typeof tags>({
  permissions: { read: true, create: 'tags:edit', update: 'tags:edit', delete: 'tags:edit' },
})
