/** All rows of the demo data, from a fixed seed: the same rows with the same ids on every machine. */
import type { comments, media, postsTags } from '../schema'
import { FOUNDED, toSlug, type OrganizationRow, type PostRow, type TagRow, type UserRow } from './basics'
import { discussion } from './discussion'
import { gallery } from './gallery'
import { createRandom, type Random } from './random'
import { stories } from './stories'
import { FIRST_NAMES, LAST_NAMES, NEWSROOMS, TOPICS } from './words'

export interface NewsroomRows {
  organizations: OrganizationRow[]
  users: UserRow[]
  tags: TagRow[]
  posts: PostRow[]
  postsTags: (typeof postsTags.$inferInsert)[]
  comments: (typeof comments.$inferInsert)[]
  media: (typeof media.$inferInsert)[]
}

const SEED = 20260105

const STAFF = ['admin', 'editor', 'editor', 'writer', 'writer', 'writer', 'writer', 'writer', 'reader', 'reader'] as const

const SALARIES = { admin: 72000, editor: 58000, writer: 44000, reader: null } as const

export function newsroomRows(): NewsroomRows {
  const random = createRandom(SEED)
  const organizations = NEWSROOMS.map(({ name, slug, city }, index) =>
    ({ id: index + 1, name, slug, city, createdAt: FOUNDED, updatedAt: FOUNDED }))
  const users = organizations.flatMap((organization, index) => staff(random, organization, index))
  const tags = organizations.flatMap((organization, index) => topics(organization, index))
  const posts = stories(random, users)
  return {
    organizations,
    users,
    tags,
    posts,
    postsTags: labels(random, posts, tags),
    comments: discussion(random, posts, users),
    media: gallery(random, posts, users),
  }
}

function staff(random: Random, organization: OrganizationRow, index: number): UserRow[] {
  return STAFF.map((role, position) => {
    const number = index * STAFF.length + position
    const first = FIRST_NAMES[number % FIRST_NAMES.length] as string
    // Shifts by one after each round through the first names, so that full names are unique.
    const last = LAST_NAMES[(number * 7 + Math.floor(number / FIRST_NAMES.length)) % LAST_NAMES.length] as string
    const salary = SALARIES[role]
    return {
      id: number + 1,
      organizationId: organization.id,
      name: `${first} ${last}`,
      email: `${toSlug(`${first} ${last}`).replace('-', '.')}@${organization.slug}.example`,
      role,
      salary: salary && salary + random.int(-6, 12) * 500,
      passwordHash: `demo$${random.uuid()}`,
      active: !(role === 'reader' && random.chance(0.2)),
      createdAt: FOUNDED,
      updatedAt: FOUNDED,
    }
  })
}

function topics(organization: OrganizationRow, index: number): TagRow[] {
  return TOPICS.map((name, position) => ({
    id: index * TOPICS.length + position + 1,
    organizationId: organization.id,
    name,
    slug: toSlug(name),
    createdAt: FOUNDED,
    updatedAt: FOUNDED,
  }))
}

function labels(random: Random, posts: PostRow[], tags: TagRow[]): NewsroomRows['postsTags'] {
  return posts.flatMap((post) => {
    const own = tags.filter(tag => tag.organizationId === post.organizationId)
    return random.sample(own, random.int(0, 4)).map((tag, position) => ({ postId: post.id, tagId: tag.id, position }))
  })
}
