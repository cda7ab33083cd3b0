/** The parts of the handwritten Drizzle queries for counts, a relation filter and a computed field. */
import { getTableColumns, sql, type Placeholder, type SQL } from 'drizzle-orm'
import { posts } from '../database/schema'

/** The values of the caller, or placeholders for them. */
export interface ShapeValues {
  readonly organization: number | Placeholder
  readonly caller: number | Placeholder
  readonly editor: boolean
}

export type Shape = 'counts' | 'related' | 'computed'

const SHAPES: Readonly<Record<string, Shape>> = {
  'counts=comments,tags': 'counts', 'filter={"author":{"posts":{"featured":true}}}': 'related', 'fields=id,title,titleLength': 'computed',
}

/** Finds the shape among the parameters of the request. */
export const shapeOf = (query: Readonly<Record<string, unknown>>): Shape | undefined =>
  Object.entries(query).map(([name, value]) => SHAPES[`${name}=${String(value)}`]).find(Boolean)

const titleLength = sql<number>`length(${posts.title})`.as('title_length')

/** What the query selects. */
export function selectionOf(shape: Shape | undefined, { organization }: Pick<ShapeValues, 'organization'>) {
  if (shape === 'computed') return { id: posts.id, title: posts.title, titleLength }
  if (shape !== 'counts') return getTableColumns(posts)
  // `posts.id` is text, because Drizzle leaves out the table of a column in the selection of one table.
  const comments = sql<number>`(select count(*) from comments where post_id = posts.id and organization_id = ${organization})`
  const tags = sql<number>`(select count(*) from post_tags join tags on tags.id = tag_id
    where post_id = posts.id and tags.organization_id = ${organization})`
  return { ...getTableColumns(posts), comments: comments.as('comments'), tags: tags.as('tags') }
}

/** Posts of authors who have a featured post that the caller can see. */
export function conditionOf(shape: Shape | undefined, { organization, caller, editor }: ShapeValues): SQL | undefined {
  if (shape !== 'related') return undefined
  const visible = editor ? sql`` : sql` and (other.status = 'published' or other.author_id = ${caller})`
  return sql`exists (select 1 from users where users.id = ${posts.authorId} and users.organization_id = ${organization} and exists
    (select 1 from posts other where other.author_id = users.id and other.featured = 1 and other.organization_id = ${organization}${visible}))`
}

/** The form of the response. */
export function toShaped(shape: Shape | undefined, row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (shape !== 'counts') return row
  const { comments, tags, ...post } = row
  return { ...post, _count: { comments, tags } }
}
