/** 6 000 comments on published posts, more of them on recent posts. */
import type { comments } from '../schema'
import type { PostRow, UserRow } from './basics'
import type { Random } from './random'
import { REMARKS } from './words'

export const COMMENTS = 6000

type CommentRow = typeof comments.$inferInsert & { createdAt: Date }

const MINUTE = 60_000

export function discussion(random: Random, posts: PostRow[], users: UserRow[]): CommentRow[] {
  const open = posts.filter(post => post.publishedAt)
  const remarks = Array.from({ length: COMMENTS }, () => {
    // The larger of two random numbers: recent posts have more comments.
    const place = Math.max(random.int(0, open.length - 1), random.int(0, open.length - 1))
    return remark(random, open[place] as PostRow, users)
  })
  return remarks
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .map((row, index) => ({ id: index + 1, ...row }))
}

function remark(random: Random, post: PostRow, users: UserRow[]): CommentRow {
  const readers = users.filter(user => user.organizationId === post.organizationId)
  const authorId = random.chance(0.15) ? null : random.pick(readers).id
  const createdAt = new Date((post.publishedAt as Date).getTime() + random.int(5, 20_000) * MINUTE)
  return {
    organizationId: post.organizationId,
    postId: post.id,
    authorId,
    body: random.sample(REMARKS, random.int(1, 2)).join(' '),
    status: random.chance(0.85) ? 'approved' : random.pick(['pending', 'rejected']),
    createdAt,
    updatedAt: createdAt,
    createdBy: authorId,
    updatedBy: authorId,
    ...withPost(post),
  }
}

/** Comments of a deleted post have its `deletionId`. */
function withPost(post: PostRow): Partial<CommentRow> {
  const { deletedAt, deletedBy, deletionId, deletedReason } = post
  return deletedAt ? { deletedAt, deletedBy, deletionId, deletedReason } : {}
}
