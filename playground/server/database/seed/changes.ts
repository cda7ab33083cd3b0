/** The audit log of the newest posts and comments: who created, published, approved and deleted them. The activity feed reads it. */
import type { auditLog } from '../schema'
import type { PostRow, UserRow } from './basics'
import { createRandom } from './random'
import type { NewsroomRows } from './rows'

type Entry = typeof auditLog.$inferInsert
type CommentRow = NewsroomRows['comments'][number]
type Values = Readonly<Record<string, unknown>>

/** The number of posts and of comments per organization whose changes are recorded. */
const RECORDED = 40

const SEED = 20260106

const MINUTE = 60_000

export function changes({ organizations, users, posts, comments }: NewsroomRows): Entry[] {
  const random = createRandom(SEED)
  const entries = organizations.flatMap(({ id }) => {
    const isOwn = (row: { organizationId: number }) => row.organizationId === id
    const editor = users.find(user => isOwn(user) && user.role === 'editor')!
    return [
      ...posts.filter(isOwn).slice(-RECORDED).flatMap(postEntries),
      ...comments.filter(isOwn).slice(-RECORDED).flatMap(comment => commentEntries(comment, editor)),
    ]
  })
  return entries
    .sort((a, b) => a.at!.getTime() - b.at!.getTime())
    .map(entry => ({ ...entry, id: toId(entry.at!, random.uuid()) }))
}

type Draft = Omit<Entry, 'id'> & { at: Date }

function postEntries(post: PostRow): Draft[] {
  const { createdAt, publishedAt, deletedAt, status, title, slug, excerpt, body, authorId, createdBy } = post
  const entry = entryOf('posts', post)
  return [
    entry('create', createdAt!, createdBy, null, { title, slug, excerpt, body, authorId, status: 'draft', publishedAt: null }),
    ...publishedAt
      ? [entry('update', publishedAt, createdBy, { status: 'draft', publishedAt: null }, { status, publishedAt })]
      : [],
    ...deletedAt ? [deletion(post, entry)] : [],
  ]
}

function commentEntries(comment: CommentRow, editor: UserRow): Draft[] {
  const { createdAt, status, deletedAt, body, postId, authorId } = comment
  const entry = entryOf('comments', comment)
  return [
    entry('create', createdAt!, authorId, null, { body, postId, authorId, status: 'pending' }),
    ...status === 'pending'
      ? []
      : [entry('update', new Date(createdAt!.getTime() + 20 * MINUTE), editor.id, { status: 'pending' }, { status })],
    ...deletedAt ? [deletion(comment, entry)] : [],
  ]
}

const deletion = ({ deletedAt, deletedBy, deletedReason }: PostRow | CommentRow, entry: ReturnType<typeof entryOf>): Draft =>
  ({ ...entry('delete', deletedAt!, deletedBy, { deletedAt: null }, { deletedAt }), reason: deletedReason })

function entryOf(resource: string, { id, organizationId }: PostRow | CommentRow) {
  return (kind: string, at: Date, userId: number | null | undefined, before: Values | null, after: Values): Draft => ({
    at, kind, resource, before, after,
    recordId: String(id),
    userId: userId ? String(userId) : null,
    tenantId: String(organizationId),
    via: 'session',
    ip: '203.0.113.0/24',
    columns: Object.keys(after),
  })
}

/** A UUID of version 7: its first half is the time. */
function toId(at: Date, uuid: string): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuid.slice(15)}`
}
