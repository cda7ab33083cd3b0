/** The handwritten handler in raw SQL, with better-sqlite3 and without Drizzle: the cost without a query library. */
import type { CountAuthors } from './draft'
import { STORES_POST } from './outbox'
import type { Caller } from './posts'
import { once } from './prepared'
import type { Page } from './query'
import { toShaped } from './shapes'

export type Row = Record<string, unknown>

export const COLUMNS = `posts.id, posts.organization_id as organizationId, posts.author_id as authorId, posts.title, posts.slug, posts.excerpt,
  posts.status, posts.featured, posts.views, posts.published_at as publishedAt, posts.created_at as createdAt, posts.updated_at as updatedAt`

const visible = (editor: boolean, featured: boolean) => [
  ...featured ? ['posts.featured = 1'] : [],
  'posts.organization_id = @organization',
  ...editor ? [] : ['(posts.status = \'published\' or posts.author_id = @caller)'],
].join(' and ')

const COUNTS = `(select count(*) from comments where post_id = posts.id and organization_id = @organization) as comments,
  (select count(*) from post_tags join tags on tags.id = tag_id where post_id = posts.id and tags.organization_id = @organization) as tags`

const related = (editor: boolean) => `exists (select 1 from users where users.id = posts.author_id
  and users.organization_id = @organization and exists (select 1 from posts other where other.author_id = users.id and other.featured = 1
  and other.organization_id = @organization${editor ? '' : ' and (other.status = \'published\' or other.author_id = @caller)'}))`

const AUTHOR = ' left join users on users.id = posts.author_id and users.organization_id = @organization'

const prepare = once(text => useDatabase().$client.prepare<[Row], Row>(text))

const prepareRows = once(text => useDatabase().$client.prepare<unknown[], unknown[]>(text).raw())

const time = (value: unknown) => value === null ? null : new Date(value as number).toISOString()

export function toPost({ authorName, knownAuthor, ...row }: Row, withAuthor: boolean) {
  row.featured = row.featured === 1
  for (const name of ['publishedAt', 'createdAt', 'updatedAt']) row[name] = time(row[name])
  if (withAuthor) row.author = knownAuthor === null ? null : { id: knownAuthor, name: authorName }
  return row
}

export function findPosts(
  { id, organizationId, permissions }: Caller, { page, limit, counts, after, featured, byViews, withAuthor, withMany, shape }: Page,
) {
  const editor = permissions.includes('posts:edit')
  const where = `${visible(editor, featured)}${shape === 'related' ? ` and ${related(editor)}` : ''}`
  const values = { caller: id, organization: organizationId }
  const columns = shape === 'computed' ? 'id, title, length(title) as titleLength' : shape === 'counts' ? `${COLUMNS}, ${COUNTS}` : withAuthor ? `${COLUMNS}, users.id as knownAuthor, users.name as authorName` : COLUMNS
  const text = `select ${columns} from posts${withAuthor ? AUTHOR : ''}
    where ${where}${after ? ' and posts.id > @after' : ''} order by ${byViews ? 'posts.views desc, posts.id desc' : 'posts.id'} limit @limit offset @offset`
  const rows = prepare(text)
    .all({ ...values, ...after && { after }, limit: counts ? limit : limit + 1, offset: (page - 1) * limit })
    .map(row => shape === 'computed' ? row : toPost(row, withAuthor))
  if (counts)
    return { data: rows, meta: { page, limit, total: prepare(`select count(*) as total from posts where ${where}`).get(values)!.total } }
  const data = shape ? rows.slice(0, limit).map(row => toShaped(shape, row)) : rows.slice(0, limit)
  if (withMany) addCommentsAndTags(data, organizationId)
  const hasMore = rows.length > limit
  if (after === undefined) return { data, meta: { page, limit, hasMore } }
  return { data, meta: { limit, hasMore, nextCursor: hasMore ? String(data.at(-1)!.id) : null } }
}

/** One statement for each relation. On SQLite this is as fast as one statement with JSON aggregates, whose text has to be parsed. */
function addCommentsAndTags(data: readonly Row[], organization: number): void {
  const ids = data.map(({ id }) => id)
  const list = ids.map(() => '?').join()
  const related = prepareRows(
    `select post_id, id, body from comments where post_id in (${list}) and organization_id = ? order by post_id, id`,
  )
  const linked = prepareRows(`select post_id, tags.id, name from post_tags join tags on tags.id = tag_id
    where post_id in (${list}) and tags.organization_id = ? order by post_id, tag_id`)
  const byId = new Map(data.map((post) => {
    const many = { comments: [] as Row[], tags: [] as Row[] }
    Object.assign(post, many)
    return [post.id, many]
  }))
  for (const [post, id, body] of related.all(...ids, organization)) byId.get(post)!.comments.push({ id, body })
  for (const [post, id, name] of linked.all(...ids, organization)) byId.get(post)!.tags.push({ id, name })
}

export function findPost({ id, organizationId, permissions }: Caller, post: number) {
  const row = prepare(`select ${COLUMNS} from posts where posts.id = @post and ${visible(permissions.includes('posts:edit'), false)}`).get({
    post,
    caller: id,
    organization: organizationId,
  })
  return row && toPost(row, false)
}

export const countAuthors: CountAuthors = (ids, organization) =>
  prepareRows(`select id from users where id in (${ids.map(() => '?').join()}) and organization_id = ?`).all(...ids, organization).length

const INSERT = `insert into posts (title, slug, excerpt, author_id, organization_id, created_at, updated_at)
  values (@title, @slug, @excerpt, @authorId, @organizationId, @now, @now)
  returning ${COLUMNS.replaceAll('posts.', '')}`

export function insertPost(draft: object) {
  return toPost(prepare(INSERT).all({ excerpt: null, ...draft, now: Date.now() })[0]!, false)
}

const RECORD = `insert into outbox (kind, record_id, organization_id, after, created_at)
  values ('posts.create', @recordId, @organizationId, @after, @now)`

const transaction = once(() => useDatabase().$client.transaction((draft: object) => {
  const post = insertPost(draft)
  const { id, organizationId } = post
  prepare(RECORD).run({ recordId: String(id), organizationId, after: STORES_POST ? JSON.stringify(post) : null, now: Date.now() })
  return post
}))

/** Inserts a post and its row in the outbox. */
export const insertRecordedPost = (draft: object) => transaction()(draft)
