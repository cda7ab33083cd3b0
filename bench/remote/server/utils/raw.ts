/** The handwritten handler in raw SQL, without Drizzle: what is left is the driver, the network and the server. */
import type { Caller } from './visible'
import { quote, readRows } from '#client'

type Row = Record<string, unknown>

const COLUMNS = Object.entries({
  id: 'id', organizationId: 'organization_id', authorId: 'author_id', title: 'title', slug: 'slug', excerpt: 'excerpt', status: 'status',
  featured: 'featured', views: 'views', publishedAt: 'published_at', createdAt: 'created_at', updatedAt: 'updated_at',
}).map(([name, column]) => `posts.${column} as ${quote(name)}`).join()

/** The condition and its values. */
function visibleRows({ id, organizationId, permissions }: Caller): [string, unknown[]] {
  return permissions.includes('posts:edit')
    ? ['posts.organization_id = ?', [organizationId]]
    : ['posts.organization_id = ? and (posts.status = \'published\' or posts.author_id = ?)', [organizationId, id]]
}

function toPost({ knownAuthor, authorName, ...post }: Row, withAuthor: boolean): Row {
  // MariaDB has no booleans.
  post.featured = Boolean(post.featured)
  if (withAuthor) post.author = knownAuthor === null ? null : { id: knownAuthor, name: authorName }
  return post
}

export async function findPosts(caller: Caller, page: number, limit: number, withAuthor: boolean) {
  const [where, values] = visibleRows(caller)
  const author = ` left join users on users.id = posts.author_id and users.organization_id = posts.organization_id`
  const columns = withAuthor ? `${COLUMNS}, users.id as ${quote('knownAuthor')}, users.name as ${quote('authorName')}` : COLUMNS
  const rows = await readRows(
    useDatabase(),
    `select ${columns} from posts${withAuthor ? author : ''} where ${where} order by posts.id limit ? offset ?`,
    [...values, limit + 1, (page - 1) * limit],
  )
  return { data: rows.slice(0, limit).map(row => toPost(row, withAuthor)), meta: { page, limit, hasMore: rows.length > limit } }
}

export async function findPost(caller: Caller, id: number) {
  const [where, values] = visibleRows(caller)
  const [row] = await readRows(useDatabase(), `select ${COLUMNS} from posts where posts.id = ? and ${where}`, [id, ...values])
  return row && toPost(row, false)
}
