/** The handwritten handler with Drizzle's `.prepare()`: each statement is built once, with placeholders. */
import { and, asc, count, desc, eq, inArray, or, sql } from 'drizzle-orm'
import { comments, outbox, posts, postTags, tags, users } from '../database/schema'
import type { CountAuthors } from './draft'
import { STORES_POST } from './outbox'
import type { Caller } from './posts'
import type { Page } from './query'
import { conditionOf, selectionOf, toShaped, type Shape } from './shapes'

/** Creates one value per key, on its first use. */
export function once<T>(create: (key: string) => T): (...parts: unknown[]) => T {
  const made = new Map<string, T>()
  return (...parts) => {
    const key = parts.join()
    let value = made.get(key)
    if (value === undefined) made.set(key, value = create(key))
    return value
  }
}

const { placeholder } = sql

const values = (editor: boolean) => ({ organization: placeholder('organization'), caller: placeholder('caller'), editor })

function visible(editor: boolean, featured: boolean, byId = false, shape?: Shape) {
  return and(
    conditionOf(shape, values(editor)),
    byId ? eq(posts.id, placeholder('post')) : undefined,
    featured ? eq(posts.featured, true) : undefined,
    eq(posts.organizationId, placeholder('organization')),
    editor ? undefined : or(eq(posts.status, 'published'), eq(posts.authorId, placeholder('caller'))),
  )
}

const flags = (key: string) => key.split(',').map(flag => flag === 'true')
const order = (byViews: boolean) => byViews ? [desc(posts.views), desc(posts.id)] : [posts.id]

const list = once((key) => {
  const [editor, featured, byViews] = flags(key) as [boolean, boolean, boolean]
  const shape = (key.split(',')[3] || undefined) as Shape | undefined
  return useDatabase()
    .select(selectionOf(shape, values(editor)))
    .from(posts)
    .where(visible(editor, featured, false, shape))
    .orderBy(...order(byViews))
    .limit(placeholder('limit'))
    .offset(placeholder('offset'))
    .prepare()
})

const listWithAuthor = once((key) => {
  const [editor, featured, byViews] = flags(key) as [boolean, boolean, boolean]
  const author = and(eq(users.id, posts.authorId), eq(users.organizationId, placeholder('organization')))
  return useDatabase()
    .select({ post: posts, author: { id: users.id, name: users.name } })
    .from(posts)
    .leftJoin(users, author)
    .where(visible(editor, featured))
    .orderBy(...order(byViews))
    .limit(placeholder('limit'))
    .offset(placeholder('offset'))
    .prepare()
})

const total = once((key) => {
  const [editor, featured] = flags(key) as [boolean, boolean]
  return useDatabase().select({ total: count() }).from(posts).where(visible(editor, featured)).prepare()
})

const one = once(key => useDatabase().select().from(posts).where(visible(key === 'true', false, true)).prepare())

const listed = (length: string) => Array.from({ length: Number(length) }, (_, index) => placeholder(`id${index}`))

const commentsOf = once(length => useDatabase()
  .select({ postId: comments.postId, comment: { id: comments.id, body: comments.body } })
  .from(comments)
  .where(and(inArray(comments.postId, listed(length)), eq(comments.organizationId, placeholder('organization'))))
  .orderBy(asc(comments.id))
  .prepare())

const tagsOf = once(length => useDatabase()
  .select({ postId: postTags.postId, tag: { id: tags.id, name: tags.name } })
  .from(postTags)
  .innerJoin(tags, eq(tags.id, postTags.tagId))
  .where(and(inArray(postTags.postId, listed(length)), eq(tags.organizationId, placeholder('organization'))))
  .orderBy(asc(tags.id))
  .prepare())

function withCommentsAndTags<P extends { id: number }>(data: readonly P[], organization: number) {
  const values = { organization, ...Object.fromEntries(data.map(({ id }, index) => [`id${index}`, id])) }
  const found = Map.groupBy(commentsOf(data.length).all(values), ({ postId }) => postId)
  const linked = Map.groupBy(tagsOf(data.length).all(values), ({ postId }) => postId)
  return data.map(post => ({
    ...post,
    comments: (found.get(post.id) ?? []).map(({ comment }) => comment),
    tags: (linked.get(post.id) ?? []).map(({ tag }) => tag),
  }))
}

export function findPosts(
  { id, organizationId, permissions }: Caller, { page, limit, counts, featured, byViews, withAuthor, withMany, shape }: Page,
) {
  const editor = permissions.includes('posts:edit')
  const values = { caller: id, organization: organizationId, limit: counts ? limit : limit + 1, offset: (page - 1) * limit }
  const rows = withAuthor
    ? listWithAuthor(editor, featured, byViews).all(values).map(({ post, author }) => ({ ...post, author }))
    : list(editor, featured, byViews, shape ?? '').all(values)
  if (counts) return { data: rows, meta: { page, limit, total: total(editor, featured).get(values)!.total } }
  const data = shape ? rows.slice(0, limit).map(row => toShaped(shape, row)) : rows.slice(0, limit)
  const records = withMany ? withCommentsAndTags(data as { id: number }[], organizationId) : data
  return { data: records, meta: { page, limit, hasMore: rows.length > limit } }
}

export function findPost({ id, organizationId, permissions }: Caller, post: number) {
  return one(permissions.includes('posts:edit')).get({ post, caller: id, organization: organizationId })
}

const authors = once(length => useDatabase()
  .select({ id: users.id })
  .from(users)
  .where(and(inArray(users.id, listed(length)), eq(users.organizationId, placeholder('organization'))))
  .prepare())

export const countAuthors: CountAuthors = (ids, organization) =>
  authors(ids.length).all({ organization, ...Object.fromEntries(ids.map((id, index) => [`id${index}`, id])) }).length

const COLUMNS = ['title', 'slug', 'excerpt', 'authorId', 'organizationId'] as const

const insertion = once(() => useDatabase().insert(posts).values({
  ...Object.fromEntries(COLUMNS.map(name => [name, placeholder(name)])) as Record<typeof COLUMNS[number], never>,
  createdAt: placeholder('createdAt') as never,
  updatedAt: placeholder('updatedAt') as never,
}).returning().prepare())

export function insertPost(draft: Partial<Record<typeof COLUMNS[number], unknown>>) {
  const now = new Date()
  return insertion().all({ excerpt: null, ...draft, createdAt: now, updatedAt: now })[0]!
}

const record = once(() => useDatabase().insert(outbox).values({
  kind: 'posts.create',
  recordId: placeholder('recordId') as never,
  organizationId: placeholder('organizationId') as never,
  ...STORES_POST && { after: placeholder('after') as never },
  createdAt: placeholder('createdAt') as never,
}).prepare())

const transaction = once(() => useDatabase().$client.transaction((draft: Parameters<typeof insertPost>[0]) => {
  const post = insertPost(draft)
  const { id, organizationId } = post
  record().run({ recordId: String(id), organizationId, after: post, createdAt: new Date() })
  return post
}))

/** Inserts a post and its row in the outbox. */
export const insertRecordedPost = (draft: Parameters<typeof insertPost>[0]) => transaction()(draft)
