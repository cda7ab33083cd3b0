/** The handwritten validation of new posts. */
import { createError } from 'h3'
import { z } from 'zod'
import type { Caller } from './posts'

const drafts = z.array(
  z.strictObject({ title: z.string(), slug: z.string(), excerpt: z.string().nullable().optional(), authorId: z.int() }),
)

/** Counts the users with these ids who belong to the organization. Each implementation asks in its own way. */
export type CountAuthors = (ids: readonly number[], organization: number) => number

/** @throws 400 for an invalid post, and for an author of another organization. */
export function checkDrafts(bodies: unknown[], { organizationId }: Caller, countAuthors: CountAuthors) {
  const parsed = drafts.safeParse(bodies)
  if (!parsed.success) throw createError({ statusCode: 400 })
  const authors = [...new Set(parsed.data.map(({ authorId }) => authorId))]
  if (countAuthors(authors, organizationId) !== authors.length) throw createError({ statusCode: 400 })
  return parsed.data.map(post => ({ ...post, organizationId }))
}
