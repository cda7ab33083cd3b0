/** Validation of posts: a column that is not null accepts an empty text, and a post without a title has nothing to click on. */
import { defineResourceValidation } from 'nuxt-auto-api/define'
import { z } from 'zod'
import { posts } from '../database/schema'

const required = (max: number) => z.string().trim().min(1, 'Write something.').max(max)

const post = z.object({
  title: required(160),
  slug: required(180),
  excerpt: z.string().max(400).nullable().optional(),
  body: required(100_000),
  status: z.enum(posts.status.enumValues).optional(),
  featured: z.boolean().optional(),
  authorId: z.int().nullable().optional(),
  publishedAt: z.iso.datetime({ offset: true }).transform(time => new Date(time)).nullable().optional(),
})

export const postsValidation = defineResourceValidation({ create: post, update: post.partial() })
