/** The handwritten audit log: reads the posts, updates them, and writes an entry with the changed columns of each, in one transaction. */
import { inArray } from 'drizzle-orm'
import { createError } from 'h3'
import { z } from 'zod'
import { auditLog, posts } from '../database/schema'
import { visibleTo, type Caller } from './posts'

type Post = typeof posts.$inferSelect

const change = z.strictObject({ title: z.string() })
const changes = z.array(z.strictObject({ id: z.int(), data: change }))

/** @throws 400 for an invalid body, 404 for a post that the caller cannot see. */
export function updatePosts(body: unknown, caller: Caller): Post[] {
  const parsed = changes.safeParse(body)
  if (!parsed.success) throw createError({ statusCode: 400 })
  const items = parsed.data
  return useDatabase().transaction((tx) => {
    const where = visibleTo(caller, inArray(posts.id, items.map(({ id }) => id)))
    const before = new Map(tx.select().from(posts).where(where).all().map(post => [post.id, post]))
    const at = new Date()
    const updated = items.map(({ id, data }) => {
      const [post] = tx.update(posts).set({ ...data, updatedAt: at }).where(visibleTo(caller, inArray(posts.id, [id]))).returning().all()
      if (!post) throw createError({ statusCode: 404 })
      return post
    })
    tx.insert(auditLog).values(updated.map(post => toEntry(before.get(post.id)!, post, at, caller))).run()
    return updated
  })
}

function toEntry(before: Post, after: Post, at: Date, caller: Caller) {
  const columns = (Object.keys(after) as (keyof Post)[]).filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  const pick = (post: Post) => Object.fromEntries(columns.map(name => [name, post[name]]))
  return {
    id: crypto.randomUUID(), at, kind: 'update', resource: 'posts', recordId: String(after.id), userId: String(caller.id), via: 'session',
    tenantId: String(caller.organizationId), columns, before: pick(before), after: pick(after),
  }
}

/** @throws 400 */
export function toChange(id: string | undefined, body: unknown) {
  const parsed = change.safeParse(body)
  if (!parsed.success) throw createError({ statusCode: 400 })
  return { id: Number(id), data: parsed.data }
}
