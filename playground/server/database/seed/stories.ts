/** About two thousand posts over two years: published, drafts, archived and a few in the trash. */
import { FOUNDED, toSlug, type PostRow, type UserRow } from './basics'
import type { Random } from './random'
import { ACTIONS, ACTORS, MATTERS, NEWSROOMS, PLACES, SENTENCES } from './words'

export const POSTS = 2000

const HOUR = 3_600_000

/** One story every 8.75 hours, for two years. */
const PACE = 8.75 * HOUR

/** One entry per share, so that a random pick gives larger newsrooms more stories. */
const DESKS = NEWSROOMS.flatMap(({ share }, index) => Array.from({ length: share }, () => index + 1))

const HEADLINES: readonly ((random: Random) => string)[] = [
  random => `The ${random.pick(ACTORS)} ${random.pick(ACTIONS)} ${random.pick(MATTERS)}`,
  random => `${random.pick(PLACES)}: the ${random.pick(ACTORS)} ${random.pick(ACTIONS)} ${random.pick(MATTERS)}`,
  random => `What ${random.pick(MATTERS)} means for ${random.pick(PLACES)}`,
  random => `Why the ${random.pick(ACTORS)} ${random.pick(ACTIONS)} ${random.pick(MATTERS)}`,
  random => `A day with the ${random.pick(ACTORS)} in ${random.pick(PLACES)}`,
]

export function stories(random: Random, users: UserRow[]): PostRow[] {
  return Array.from({ length: POSTS }, (_, index) => story(random, users, index))
}

function story(random: Random, users: UserRow[], index: number): PostRow {
  const id = index + 1
  // The first story of each newsroom is published: examples use it.
  const first = index < NEWSROOMS.length
  const organizationId = first ? id : random.pick(DESKS)
  const desk = users.filter(user => user.organizationId === organizationId && user.role !== 'reader')
  const writer = random.pick(desk)
  const status = first ? 'published' : statusOf(random)
  const title = sentenceCase(random.pick(HEADLINES)(random))
  const body = random.sample(SENTENCES, random.int(4, 8))
  const createdAt = new Date(FOUNDED.getTime() + index * PACE + random.int(0, 4) * HOUR)
  const publishedAt = status === 'draft' ? null : new Date(createdAt.getTime() + random.int(1, 72) * HOUR)
  return {
    id,
    organizationId,
    authorId: random.chance(0.05) ? null : writer.id,
    title,
    slug: `${toSlug(title)}-${id}`,
    excerpt: random.chance(0.8) ? body[0] : null,
    body: body.join(' '),
    status,
    featured: status === 'published' && random.chance(0.06),
    views: publishedAt ? random.int(20, 9000) : 0,
    publishedAt,
    createdAt,
    updatedAt: publishedAt ?? createdAt,
    createdBy: writer.id,
    updatedBy: writer.id,
    ...(first ? {} : trash(random, desk, publishedAt ?? createdAt)),
  }
}

function statusOf(random: Random): PostRow['status'] {
  if (random.chance(0.16))
    return 'draft'
  return random.chance(0.12) ? 'archived' : 'published'
}

function trash(random: Random, desk: UserRow[], after: Date): Partial<PostRow> {
  if (!random.chance(0.03))
    return {}
  return {
    deletedAt: new Date(after.getTime() + random.int(15, 45) * 24 * HOUR),
    deletedBy: desk.find(user => user.role === 'editor')?.id,
    deletionId: random.uuid(),
    deletedReason: random.pick(['Published twice', 'Withdrawn by the author', 'Legal notice', null]),
  }
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
