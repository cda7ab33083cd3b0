/** The same authorization. This module uses `objectLevel` for a single row and `listFilter` for lists. */
import { eq, or } from 'drizzle-orm'
import { z } from 'zod'
import type { posts } from './schema'

interface Context { user?: { id: number }, permissions: string[] }

export const postsAuth = {
  permissions: { read: 'posts:read', create: 'posts:read' },
  listFilter: (table: typeof posts, { user, permissions }: Context) =>
    permissions.includes('posts:edit') ? undefined : or(eq(table.status, 'published'), eq(table.authorId, user!.id)),
  objectLevel: (post: { status: string, authorId: number }, { user, permissions }: Context) =>
    permissions.includes('posts:edit') || post.status === 'published' || post.authorId === user!.id,
}

const draft = z.strictObject({ title: z.string(), slug: z.string(), excerpt: z.string().nullable().optional(), authorId: z.int() })

/** Created once. Without it, the module creates its schemas for every request. */
export const postsValidation = { create: z.union([draft, z.strictObject({ items: z.array(draft) })]), query: z.looseObject({}) }
