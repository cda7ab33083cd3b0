/** The handwritten validation of new posts. */
import { and, eq, inArray } from 'drizzle-orm'
import { createError } from 'h3'
import { z } from 'zod'
import { users } from '../database/schema'
import type { Caller } from './posts'

const draft = z.strictObject({ title: z.string(), slug: z.string(), excerpt: z.string().nullable().optional(), authorId: z.int() })

/** @throws 400 for an invalid post, and for an author of another organization. */
export function checkDrafts(bodies: unknown[], { organizationId }: Caller) {
  const parsed = z.array(draft).safeParse(bodies)
  if (!parsed.success) throw createError({ statusCode: 400 })
  const authors = [...new Set(parsed.data.map(({ authorId }) => authorId))]
  const known = useDatabase()
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, authors), eq(users.organizationId, organizationId)))
    .all()
  if (known.length !== authors.length) throw createError({ statusCode: 400 })
  return parsed.data.map(post => ({ ...post, organizationId }))
}
