/** The handwritten validation of new posts. */
import { createError } from 'h3'
import { z } from 'zod'
import type { Caller } from './posts'

const draft = z.strictObject({ title: z.string(), slug: z.string(), excerpt: z.string().nullable().optional(), authorId: z.int() })

const drafts = z.array(draft)

/** Counts the users with these ids who belong to the organization. Each implementation asks in its own way. */
export type CountAuthors = (ids: readonly number[], organization: number) => number

/** @throws 400 for an invalid post, and for an author of another organization. */
export const checkDrafts = (bodies: unknown[], caller: Caller, countAuthors: CountAuthors) => checkAll(drafts, bodies, caller, countAuthors)

const threads = z.array(draft.extend({ comments: z.strictObject({ create: z.array(z.strictObject({ body: z.string() })) }) }))

/** Whether the request is one for posts with comments. */
export const hasComments = (bodies: readonly unknown[]): boolean => Object.hasOwn(bodies[0] as object, 'comments')

/** A post with the texts of its comments. */
export type Thread = ReturnType<typeof checkThreads>[number]

/** @throws 400 for an invalid post or comment, and for an author of another organization. */
export const checkThreads = (bodies: unknown[], caller: Caller, countAuthors: CountAuthors) =>
  checkAll(threads, bodies, caller, countAuthors)
    .map(({ comments, ...post }) => ({ post, texts: comments.create.map(({ body }) => body) }))

function checkAll<Draft extends { authorId: number }>(
  schema: z.ZodType<Draft[]>, bodies: unknown[], { organizationId }: Caller, countAuthors: CountAuthors,
) {
  const parsed = schema.safeParse(bodies)
  if (!parsed.success) throw createError({ statusCode: 400 })
  const authors = [...new Set(parsed.data.map(({ authorId }) => authorId))]
  if (countAuthors(authors, organizationId) !== authors.length) throw createError({ statusCode: 400 })
  return parsed.data.map(post => ({ ...post, organizationId }))
}
