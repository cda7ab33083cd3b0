/** Tags: every caller reads them, editors change them. */
import { defineResource } from 'nuxt-auto-api/define'
import { tags } from '../database/schema'
import { tagsValidation } from '../validation/tags'

export default defineResource(tags, {
  permissions: { read: true, create: 'tags:edit', update: 'tags:edit', delete: 'tags:edit' },
  validation: tagsValidation,
  metadata: { icon: 'i-lucide-tags', fields: { id: { column: 0 }, name: { column: 1 }, slug: { column: 2 } } },
})
