/** Parses the query parameters of the handwritten routes. */
import { createError, getQuery, type H3Event } from 'h3'
import { shapeOf, type Shape } from './shapes'

export interface Page {
  page: number
  limit: number
  counts: boolean
  /** The id before the page, 0 for the first page. It replaces `page`. */
  after?: number
  featured: boolean
  byViews: boolean
  withAuthor: boolean
  withMany: boolean
  shape?: Shape
}

const wholeNumber = (value: unknown, otherwise: number) => {
  if (value === undefined) return otherwise
  if (typeof value !== 'string' || !/^[1-9]\d{0,8}$/.test(value)) throw createError({ statusCode: 400 })
  return Number(value)
}

/** @throws 400 */
export function readPage(event: H3Event): Page {
  const query = getQuery(event)
  return {
    page: wholeNumber(query.page, 1),
    limit: Math.min(wholeNumber(query.limit, 20), 100),
    counts: query.count !== 'none' && query.after === undefined,
    ...query.after !== undefined && { after: wholeNumber(query.after || undefined, 0) },
    featured: query.filter === '{"featured":true}',
    byViews: query.sort === '-views',
    withAuthor: query.include === 'author[id,name]',
    withMany: query.include === 'comments[id,body],tags[id,name]',
    shape: shapeOf(query),
  }
}

/** @throws 404 */
export function readId(id: string | undefined): number {
  if (!id || !/^[1-9]\d{0,14}$/.test(id)) throw createError({ statusCode: 404 })
  return Number(id)
}
