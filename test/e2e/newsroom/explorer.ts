/** The expected responses of the explorer's examples, computed in SQL without the API: for the public, or for the given user. */
import { expect } from 'vitest'
import { toViews, type ResourceView } from '../../../playground/app/resources'
import { EDITOR, PUBLIC } from './callers'
import type { ServerResponse } from '../support/request'
import type { Newsroom } from './server'

const BRIEF = 'select id, title, views, published_at publishedAt from posts'

interface Check {
  readonly as?: number
  readonly check: (answer: ServerResponse, newsroom: Newsroom) => void | Promise<void>
}

type Timed = { publishedAt: number | null }

const timed = <T extends Timed>(rows: T[]) =>
  rows.map(row => ({ ...row, publishedAt: row.publishedAt === null ? null : new Date(row.publishedAt).toISOString() }))

function expectPage(
  { body }: ServerResponse,
  { rows }: Newsroom,
  { where = PUBLIC, order = '', limit }: { where?: string, order?: string, limit: number },
): void {
  expect(body.data).toEqual(timed(rows<Timed>(`${BRIEF} where ${where} order by ${order}id limit ${limit}`)))
  expect(body.data.length).toBeGreaterThan(0)
  expect(body.meta).toMatchObject({ page: 1, limit, total: count(rows, where) })
}

export function count(rows: Newsroom['rows'], where: string, table = 'posts'): number {
  return rows<{ n: number }>(`select count(*) n from ${table} where ${where}`)[0]!.n
}

/** The resources of the playground's pages for a caller: by name, from the description of the API. */
export async function findViews({ request }: Newsroom, as?: number): Promise<ReadonlyMap<unknown, ResourceView>> {
  const { status, body } = await request('/api/_schema', { as })
  expect(status).toBe(200)
  return new Map(toViews(body.resources).map(view => [view.name, view]))
}

/** The check of each example, by its label. */
export const CHECKS: Readonly<Record<string, Check>> = {
  'Most read': {
    // Ties follow the direction of the sort.
    check: (answer, newsroom) =>
      expect(answer.body.data).toEqual(timed(newsroom.rows<Timed>(`${BRIEF} where ${PUBLIC} order by views desc, id desc limit 5`))),
  },
  'Featured in 2025, at least 1 000 views': {
    check: (answer, newsroom) =>
      expectPage(answer, newsroom, {
        limit: 10,
        where: `${PUBLIC} and featured = 1 and published_at >= ${Date.UTC(2025, 0)} and published_at < ${Date.UTC(2026, 0)} and views >= 1000`,
      }),
  },
  'From the response cache': {
    check({ body }, { rows }) {
      expect(body.data).toEqual(rows('select id, name, city from organizations where id = 1'))
    },
  },
  'About the tram or the bus': {
    check: (answer, newsroom) =>
      expectPage(answer, newsroom, { limit: 10, where: `${PUBLIC} and (title like '%tram%' or title like '%bus%')` }),
  },
  'With tags and the first two comments': {
    check({ body }, { rows }) {
      const posts = rows<{ id: number, title: string }>(
        `select id, title from posts where ${PUBLIC} order by published_at desc, id desc limit 5`,
      )
      expect(body.data.map(({ id, title }: { id: number, title: string }) => ({ id, title }))).toEqual(posts)
      const ids = (list: { id: number }[]) => list.map(({ id }) => id)
      for (const post of body.data) {
        expect(ids(post.tags)).toEqual(ids(rows('select tag_id id from posts_tags where post_id = ? order by tag_id', post.id)))
        expect(ids(post.comments)).toEqual(
          ids(
            rows('select id from comments where post_id = ? and status = \'approved\' and deleted_at is null order by id limit 2', post.id),
          ),
        )
      }
      expect(body.data.flatMap((post: { tags: unknown[] }) => post.tags).length).toBeGreaterThan(0)
      expect(body.data.map((post: { comments: unknown[] }) => post.comments.length)).toContain(2)
    },
  },
  'Three levels deep (sign in)': {
    as: EDITOR,
    check({ body }, { rows }) {
      const [organization] = rows<{ name: string }>('select name from organizations where id = 1')
      const authors = body.data.flatMap((post: { comments: { author: unknown }[] }) =>
        post.comments.map(({ author }) => author).filter(Boolean),
      ) as { name: string, organization: { name: string } }[]
      expect(authors.length).toBeGreaterThan(0)
      expect(new Set(authors.map(author => author.organization.name))).toEqual(new Set([organization!.name]))
      expect(body.data[0]).toMatchObject({
        id: rows<{ id: number }>(
          'select id from posts where organization_id = 1 and deleted_at is null order by published_at desc, id desc limit 1',
        )[0]!.id,
      })
    },
  },
  'Newest first, by cursor': {
    async check({ body: first }, { request, rows }) {
      const seen: number[] = []
      let page = first
      for (let cursor: string | null = ''; cursor !== null; cursor = page.meta.nextCursor) {
        if (cursor) page = (await request(`/api/posts?fields=id&sort=-publishedAt&limit=100&cursor=${cursor}`)).body
        seen.push(...page.data.map(({ id }: { id: number }) => id))
      }
      expect(seen).toEqual(
        rows<{ id: number }>(`select id from posts where ${PUBLIC} order by published_at desc, id desc`).map(({ id }) => id),
      )
    },
  },
  'A page and its sums': {
    check({ body }, { rows }) {
      const [{ n, views, latest }] = rows<{ n: number, views: number, latest: number }>(
        `select count(*) n, sum(views) views, max(published_at) latest from posts where ${PUBLIC}`,
      ) as [{ n: number, views: number, latest: number }]
      expect(body.meta.aggregates).toEqual({ count: n, sum_views: views, max_publishedAt: new Date(latest).toISOString() })
      expect(body.data).toHaveLength(5)
    },
  },
  'Views by author': {
    check({ body }, { rows }) {
      const groups = rows<{ author: number | null, n: number, mean: number }>(
        `select author_id author, count(*) n, avg(views) mean from posts where ${PUBLIC} group by author_id`,
      )
      type Group = { group: { authorId: number | null }, count: number, avg_views: number }
      const found = (body.data as Group[]).map(({ group, count, avg_views }) => ({ author: group.authorId, n: count, mean: avg_views }))
      expect(body.meta.total).toBe(groups.length)
      expect(found.map(({ n }) => n)).toEqual(
        groups
          .map(({ n }) => n)
          .sort((a, b) => b - a)
          .slice(0, 10),
      )
      for (const { author, n, mean } of found) {
        const group = groups.find(group => group.author === author)!
        expect(n).toBe(group.n)
        expect(mean).toBeCloseTo(group.mean, 6)
      }
    },
  },
  'The trash (editors)': {
    as: EDITOR,
    check({ body }, { rows }) {
      const where = 'organization_id = 1 and deleted_at is not null'
      expect(body.data.map(({ id }: { id: number }) => id)).toEqual(
        rows<{ id: number }>(`select id from posts where ${where} order by id limit 10`).map(({ id }) => id),
      )
      expect(body.meta.total).toBe(count(rows, where))
    },
  },
}
