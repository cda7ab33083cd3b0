/** The handwritten handler's related records: one Drizzle query for each relation, built per request. */
import { and, asc, eq, inArray } from 'drizzle-orm'
import { comments, postTags, tags } from '../database/schema'
import type { Caller } from './posts'

export function addCommentsAndTags<P extends { id: number }>(data: readonly P[], { organizationId }: Caller) {
  const db = useDatabase()
  const ids = data.map(({ id }) => id)
  const found = db
    .select({ postId: comments.postId, comment: { id: comments.id, body: comments.body } })
    .from(comments)
    .where(and(inArray(comments.postId, ids), eq(comments.organizationId, organizationId)))
    .orderBy(asc(comments.id))
    .all()
  const linked = db
    .select({ postId: postTags.postId, tag: { id: tags.id, name: tags.name } })
    .from(postTags)
    .innerJoin(tags, eq(tags.id, postTags.tagId))
    .where(and(inArray(postTags.postId, ids), eq(tags.organizationId, organizationId)))
    .orderBy(asc(tags.id))
    .all()
  const commentsOf = Map.groupBy(found, ({ postId }) => postId)
  const tagsOf = Map.groupBy(linked, ({ postId }) => postId)
  return data.map(post => ({
    ...post,
    comments: (commentsOf.get(post.id) ?? []).map(({ comment }) => comment),
    tags: (tagsOf.get(post.id) ?? []).map(({ tag }) => tag),
  }))
}
