/** The measured operations, independent of the format of a system, and the rows that a response must have. */
import { NEW_POST, type Data, type Post } from './data.ts'

/** A request for 20 published posts. Without `byViews`, the newest come first. */
export interface ListQuery {
  readonly page: number
  readonly total?: true
  readonly featured?: true
  readonly byViews?: true
  readonly withAuthor?: true
  /** Posts with a comment whose author has this name. */
  readonly commentedBy?: string
}

export type SystemQuery
  = | { readonly kind: 'list', readonly list: ListQuery }
    | { readonly kind: 'get', readonly id: number }
    | { readonly kind: 'create' }
    | { readonly kind: 'bulk', readonly count: number }

export interface Expected {
  readonly posts: readonly Pick<Post, 'title' | 'slug' | 'excerpt' | 'state' | 'featured' | 'views' | 'releasedAt' | 'author'>[]
  readonly total?: number
  /** The names of the authors, in the order of the posts. */
  readonly authors?: readonly string[]
}

export interface SystemOperation {
  readonly title: string
  readonly queries: (data: Data) => readonly SystemQuery[]
  readonly writes?: true
}

export const LIMIT = 20
/** What PocketBase accepts in one batch without a change of its settings. */
const BULK = 50
const PAGES = [1, 2, 3, 4, 5]

const lists = (list: Omit<ListQuery, 'page'>) => () => PAGES.map((page): SystemQuery => ({ kind: 'list', list: { ...list, page } }))

export const OPERATIONS: readonly SystemOperation[] = [
  {
    title: 'get',
    queries: ({ posts }) => posts.filter(isPublished).filter((_, index) => index % 120 === 0).map(({ id }) => ({ kind: 'get', id })),
  },
  { title: 'list 20', queries: lists({}) },
  { title: 'list 20 + total', queries: lists({ total: true }) },
  { title: 'filter + sort', queries: lists({ featured: true, byViews: true }) },
  { title: 'include author', queries: lists({ withAuthor: true }) },
  {
    title: 'filter over two relations',
    queries: () => [7, 21, 42, 63, 84].map(id => ({ kind: 'list', list: { page: 1, commentedBy: `Author ${id}` } })),
  },
  { title: 'create', writes: true, queries: () => [{ kind: 'create' }] },
  { title: `bulk create of ${BULK}`, writes: true, queries: () => [{ kind: 'bulk', count: BULK }] },
]

const isPublished = ({ state }: Post) => state === 'published'

export function expect(query: SystemQuery, data: Data): Expected {
  if (query.kind === 'create') return { posts: [NEW_POST] }
  if (query.kind === 'bulk') return { posts: Array.from({ length: query.count }, () => NEW_POST) }
  if (query.kind === 'get') return { posts: data.posts.filter(({ id }) => id === query.id) }
  const { page, total, featured, byViews, withAuthor, commentedBy } = query.list
  const commenter = data.authors.find(({ name }) => name === commentedBy)?.id
  const commented = new Set(data.comments.filter(({ author }) => author === commenter).map(({ post }) => post))
  const matches = data.posts
    .filter(post => isPublished(post) && (!featured || post.featured) && (!commentedBy || commented.has(post.id)))
    .sort((a, b) => byViews ? b.views - a.views : b.id - a.id)
  const posts = matches.slice((page - 1) * LIMIT, page * LIMIT)
  return {
    posts,
    ...total && { total: matches.length },
    ...withAuthor && { authors: posts.map(({ author }) => data.authors[author - 1]!.name) },
  }
}
