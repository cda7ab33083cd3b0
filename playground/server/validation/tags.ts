/** Validation of tags, in addition to that of the columns. */
import { defineResourceValidation } from 'nuxt-auto-api/define'
import { z } from 'zod'

const tag = z.object({
  name: z.string().trim().min(2).max(60),
  slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'Use lower-case letters, digits and single hyphens.').max(60),
})

export const tagsValidation = defineResourceValidation({ create: tag, update: tag.partial() })
