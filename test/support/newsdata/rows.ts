/** The rows of the newsroom, from a fixed seed: many ties, many NULLs, and text that is hard to sort and to match. */
import type { Row } from '../oracle/model'

export type Data = Record<string, Row[]>

const TITLES = [
  'Nuxt',
  'nuxt news',
  'NUXT_100%',
  'Äpfel',
  'äpfel',
  'a,b',
  'say "hi"',
  'it\'s',
  'back\\slash',
  '',
  '😀 emoji',
  '～wide',
  'Zebra',
  'zebra',
  ' lead',
  '100',
  'null',
  '{"$or":[]}',
]
const WORDS = [null, 0, 1, 2, 5, 100, -3, null]
const REALS = [null, 0, 0.5, -1.25, 3.75, 1000, null]
const DATES = [
  null,
  '1969-12-31T23:59:59.999Z',
  '2024-02-29T00:00:00.000Z',
  '2024-02-29T12:30:00.500Z',
  '2025-01-01T00:00:00.000Z',
  null,
].map(text => (text === null ? null : new Date(text)))
const BIGS = [null, 0n, 1n, 7n, 9007199254740993n, -9007199254740995n, null]
const DECIMALS = [null, '0', '12.5', '9007199254740993', '-3.25', '100', '0.1', '19.99', null]
const BOOLEANS = [null, true, false]
const JSONS = [null, { a: [1, 'x'] }, [1, 2], 'text', 7]
const BLOBS = [null, Buffer.from([0, 1, 255]), Buffer.from('hello')]
const STATUS = ['published', 'published', 'published', 'archived', 'draft']
const DESKS = ['news', 'News', 'a,b']

const set = <T>(values: readonly (T | null)[]) => values.filter((value): value is T => value !== null)

/** A random generator with a seed, so that the rows are the same on every machine. */
function createPick(seed: number) {
  let state = seed
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648)
  return {
    pick: <T>(values: readonly T[]): T => values[Math.floor(next() / 65_536) % values.length]!,
    chance: (percent: number) => Math.floor(next() / 65_536) % 100 < percent,
  }
}

const uuid = (index: number) =>
  `${index.toString(16).padStart(8, 'a')}-0000-4000-8000-${((index * 7919) % 65_536).toString(16).padStart(12, '0')}`

export function createRows(): Data {
  const { pick, chance } = createPick(20_26)
  const organization = () => chance(75) ? 1 : 2
  const authorIds = Array.from({ length: 24 }, (_, index) => uuid((index * 37) % 101))
  const maybe = <T>(values: readonly T[], percent = 70) => chance(percent) ? pick(values) : null
  const authors = authorIds.map((id, index): Row => ({
    id,
    organizationId: organization(),
    name: pick(TITLES),
    nickname: maybe(TITLES, 50),
    rating: pick(REALS),
    active: pick(BOOLEANS),
    born: pick(DATES),
    karma: pick(BIGS),
    fee: pick(DECIMALS),
    bio: pick(JSONS),
    avatar: pick(BLOBS),
    mentorId: index === 0 ? null : maybe(authorIds.slice(0, index)),
    secret: `s${index}`,
    salary: index * 10,
  }))
  const sections = DESKS.flatMap(desk =>
    [1, 2, 10].map((number): Row => ({ desk, number, organizationId: organization(), name: maybe(TITLES), opened: pick(DATES) })),
  )
  const articles = Array.from({ length: 90 }, (_, index): Row => {
    const section = maybe(sections, 60)
    return {
      id: index + 1,
      organizationId: organization(),
      authorId: maybe(authorIds, 85),
      editorId: maybe(authorIds.slice(0, 3)),
      ghostId: maybe(authorIds),
      reviewerId: maybe(authorIds),
      desk: section?.desk ?? maybe(DESKS, 20),
      sectionId: section?.number ?? null,
      parentId:
        index === 0
          ? null
          : maybe(
              Array.from({ length: index }, (_, before) => before + 1),
              50,
            ),
      title: pick(TITLES),
      status: pick(STATUS),
      words: pick(WORDS),
      score: pick(REALS),
      featured: pick(BOOLEANS),
      publishedAt: pick(DATES),
      views: pick(BIGS),
      price: pick(DECIMALS),
      meta: pick(JSONS),
      cover: pick(BLOBS),
      secret: `s${index}`,
      margin: index,
      deletedAt: chance(12) ? set(DATES)[1]! : null,
    }
  })
  const tags = Array.from({ length: 30 }, (_, index): Row => ({
    id: index + 1,
    label: pick(TITLES),
    weight: pick(WORDS),
    since: pick(DATES),
    hits: pick(BIGS),
    price: pick(DECIMALS),
    ratio: pick(REALS),
    active: pick(BOOLEANS),
  }))
  const pairs = articles.flatMap(article => tags.flatMap(tag => chance(12) ? [{ articleId: article.id, tagId: tag.id }] : []))
  const credits = articles.flatMap(article =>
    authorIds.flatMap((authorId): Row[] =>
      chance(8) ? [{ articleId: article.id, authorId, role: pick(['text', 'photo', 'hidden']), share: pick(DECIMALS) }] : [],
    ),
  )
  const entryIds = Array.from({ length: 40 }, (_, index) => index < 20 ? 9_007_199_254_740_992n + BigInt(index) : BigInt(index))
  const entries = entryIds.map((id, index): Row => ({
    id,
    parentId: index === 0 ? null : maybe(entryIds.slice(0, index), 60),
    note: pick(TITLES),
    amount: pick(set(DECIMALS)),
    at: pick(set(DATES)),
    done: pick(set(BOOLEANS)),
    ratio: pick(set(REALS)),
  }))
  return { authors, sections, articles, tags, articleTags: pairs, credits, entries }
}
