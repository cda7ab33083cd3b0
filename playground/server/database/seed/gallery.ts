/** 300 files. Most belong to a post. */
import type { media } from '../schema'
import { toSlug, type PostRow, type UserRow } from './basics'
import type { Random } from './random'
import { MATTERS, PLACES } from './words'

export const FILES = 300

const KINDS = [
  { kind: 'image', mimeType: 'image/jpeg', extension: 'jpg', megabytes: 6 },
  { kind: 'image', mimeType: 'image/webp', extension: 'webp', megabytes: 3 },
  { kind: 'image', mimeType: 'image/jpeg', extension: 'jpg', megabytes: 9 },
  { kind: 'video', mimeType: 'video/mp4', extension: 'mp4', megabytes: 180 },
  { kind: 'audio', mimeType: 'audio/mpeg', extension: 'mp3', megabytes: 40 },
  { kind: 'document', mimeType: 'application/pdf', extension: 'pdf', megabytes: 4 },
] as const

export function gallery(random: Random, posts: PostRow[], users: UserRow[]): (typeof media.$inferInsert)[] {
  return Array.from({ length: FILES }, (_, index) => {
    const post = random.pick(posts)
    const { kind, mimeType, extension, megabytes } = random.pick(KINDS)
    const uploader = random.pick(users.filter(user => user.organizationId === post.organizationId && user.role !== 'reader'))
    const subject = `${random.pick(MATTERS)}, ${random.pick(PLACES)}`
    return {
      id: random.uuid(),
      organizationId: post.organizationId,
      postId: random.chance(0.85) ? post.id : null,
      uploaderId: uploader.id,
      kind,
      filename: `${toSlug(subject)}-${index + 1}.${extension}`,
      mimeType,
      bytes: random.int(40_000, megabytes * 1_000_000),
      alt: kind === 'image' && random.chance(0.9) ? `View of ${subject}` : null,
      details: kind === 'image' ? { width: random.pick([1600, 2400, 4000]), height: random.pick([900, 1600, 3000]) } : null,
      createdAt: post.createdAt,
      updatedAt: post.createdAt,
      createdBy: uploader.id,
      updatedBy: uploader.id,
    }
  })
}
