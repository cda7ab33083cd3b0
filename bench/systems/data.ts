/** The rows that every system gets: 100 authors, 10 000 posts and 20 000 comments, the same in every run. */
import { createRandom } from '../random.ts'

export const SIZE = { authors: 100, posts: 10_000, comments: 20_000 }

export interface Author { readonly id: number, readonly name: string }

export interface Post {
  readonly id: number
  readonly title: string
  readonly slug: string
  readonly excerpt: string
  /** Not `status` and `publishedAt`: Strapi keeps these names for itself. */
  readonly state: 'draft' | 'published' | 'archived'
  readonly featured: boolean
  /** Different for each post, so that an order by it has no equal values. */
  readonly views: number
  /** An ISO time, one minute after that of the post before. */
  readonly releasedAt: string
  readonly author: number
}

export interface Comment { readonly id: number, readonly body: string, readonly post: number, readonly author: number }

export interface Data { readonly authors: readonly Author[], readonly posts: readonly Post[], readonly comments: readonly Comment[] }

/** The indexes that every system gets. Strapi has its own ones for relations, which are tables of their own. */
export const INDEXES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  posts: [['state', 'releasedAt'], ['state', 'featured', 'views'], ['author']],
  comments: [['post'], ['author']],
}

export const START = Date.UTC(2024, 0, 1)

const WORDS = 'harbour council bridge winter school river market tram library festival budget garden museum station theatre bakery'.split(' ')
const STATES = ['draft', 'published', 'published', 'published', 'archived'] as const
/** A prime above the number of posts: its multiples are different for each post. */
const PRIME = 10_007

export function createData(): Data {
  const { below, pick } = createRandom(20_261_129)
  const text = (words: number) => Array.from({ length: words }, () => pick(WORDS)).join(' ')
  const ids = (length: number) => Array.from({ length }, (_, index) => index + 1)
  return {
    authors: ids(SIZE.authors).map(id => ({ id, name: `Author ${id}` })),
    posts: ids(SIZE.posts).map(id => ({
      id,
      title: text(6),
      slug: `${text(3).replaceAll(' ', '-')}-${id}`,
      excerpt: text(14),
      state: pick(STATES),
      featured: below(20) === 0,
      views: id * 7919 % PRIME,
      releasedAt: new Date(START + id * 60_000).toISOString(),
      author: 1 + below(SIZE.authors),
    })),
    comments: ids(SIZE.comments).map(id => ({ id, body: text(10), post: 1 + below(SIZE.posts), author: 1 + below(SIZE.authors) })),
  }
}

/** The post that a create sends. */
export const NEW_POST = {
  title: 'A post of the benchmark',
  slug: 'a-post-of-the-benchmark',
  excerpt: 'Written to be measured.',
  state: 'draft',
  featured: false,
  views: 0,
  releasedAt: new Date(START).toISOString(),
  author: 1,
} as const
