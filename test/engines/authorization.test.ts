/** On every engine no request reaches a row that the caller cannot see, while the same requests reach a visible twin. */
import { notLike, type Column, type Table } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answered } from '../support/server'
import { CLEAR, openBlog, TIMES, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'

/** A post of each kind, with a comment of the caller's own and a tag on it. What is hidden lies in the trash once more, ten further on. */
const TWIN = 1
const HIDDEN = { 'of another tenant': 2, 'left out by listFilter': 3, 'refused by objectLevel': 4, 'in the trash': 5 } as const
const TITLES: Readonly<Record<number, string>> = { 1: 'open', 2: 'foreign', 3: 'hidden', 4: 'secret', 5: 'thrown away' }
const tenantOf = (id: number) => id === HIDDEN['of another tenant'] ? 2 : 1

const IDS = [TWIN, ...Object.values(HIDDEN)]
const SEED = [
  ...IDS.map(id => `insert into posts (id, organization_id, title) values (${id}, ${tenantOf(id)}, '${TITLES[id]}')`),
  ...IDS.map(
    id =>
      `insert into posts (id, organization_id, title, deleted_at, deletion_id) values (${10 + id}, ${tenantOf(id)}, '${TITLES[id]} in the trash', TIME, 'g${id}')`,
  ),
  'update posts set deleted_at = TIME, deletion_id = \'g0\' where id = 5',
  ...IDS.map(id => `insert into comments (id, organization_id, post_id, body) values (${100 + id}, 1, ${id}, 'c')`),
  ...IDS.map(id => `insert into post_tags values (${id}, 1)`),
].join(';')

const RULES = {
  posts: {
    listFilter: (table: Table) => notLike((table as unknown as { title: Column }).title, 'hidden%'),
    objectLevel: (row: Record<string, unknown>) => !String(row.title).startsWith('secret'),
  },
}

interface Way {
  readonly what: string
  readonly request: (id: number) => [method: string, path: string, body?: unknown]
  /** What of the answer tells; its status otherwise. */
  readonly tells?: (body: Answered['body'], id: number) => unknown
  readonly twin: unknown
  readonly hidden: unknown
}

type Rows = { id: number }[]
const holds = (rows: Rows, id: number) => rows.some(row => row.id === id)
const only = (id: number) => encodeURIComponent(JSON.stringify({ id }))

const READS: Way[] = [
  { what: 'a list', request: () => ['GET', 'posts?limit=100'], tells: ({ data }, id) => holds(data, id), twin: true, hidden: false },
  {
    what: 'a list by cursor',
    request: () => ['GET', 'posts?limit=100&cursor='],
    tells: ({ data }, id) => holds(data, id),
    twin: true,
    hidden: false,
  },
  { what: 'a total', request: id => ['GET', `posts?filter=${only(id)}`], tells: ({ meta }) => meta.total, twin: 1, hidden: 0 },
  { what: 'its address', request: id => ['GET', `posts/${id}`], twin: 200, hidden: 404 },
  {
    what: 'an include of one',
    request: id => ['GET', `comments/${100 + id}?include=post`],
    tells: ({ post }, id) => post?.id === id,
    twin: true,
    hidden: false,
  },
  {
    what: 'an include of many',
    request: () => ['GET', 'tags/1?include=posts'],
    tells: ({ posts }, id) => holds(posts, id),
    twin: true,
    hidden: false,
  },
  {
    what: 'an include with a filter',
    request: id => ['GET', `tags/1?include=${encodeURIComponent(JSON.stringify({ posts: { filter: { id } } }))}`],
    tells: ({ posts }) => posts.length,
    twin: 1,
    hidden: 0,
  },
  {
    what: 'an include of an include',
    request: id => ['GET', `comments?filter=${only(100 + id)}&include=post.tags.posts`],
    tells: ({ data: [{ post }] }, id) => post !== null && holds(post.tags[0].posts, id),
    twin: true,
    hidden: false,
  },
  { what: 'a relation from it', request: id => ['GET', `posts/${id}/relations/comments`], twin: 200, hidden: 404 },
  {
    what: 'a relation to it',
    request: id => ['GET', `tags/1/relations/posts?filter=${only(id)}`],
    tells: ({ data }, id) => holds(data, id),
    twin: true,
    hidden: false,
  },
  {
    what: 'an aggregate',
    request: id => ['GET', `posts/aggregate?aggregate=count,max(title)&filter=${only(id)}`],
    tells: ({ data: [entry] }) => entry.count,
    twin: 1,
    hidden: 0,
  },
  {
    what: 'groups',
    request: () => ['GET', 'posts/aggregate?groupBy=id'],
    tells: ({ data }, id) => data.some(({ group }: { group: { id: number } }) => group.id === id),
    twin: true,
    hidden: false,
  },
  {
    what: 'its record permissions',
    request: id => ['GET', `posts/permissions?ids=${id}`],
    tells: ({ records }, id) => [records[id].canRead, records[id].canUpdate, records[id].canDelete],
    twin: [true, true, true],
    hidden: [false, false, false],
  },
]

const WRITES: Way[] = [
  { what: 'an update', request: id => ['PATCH', `posts/${id}`, { title: 'new' }], twin: 200, hidden: 404 },
  { what: 'a delete', request: id => ['DELETE', `posts/${id}`], twin: 200, hidden: 404 },
  {
    what: 'a bulk update with others',
    request: id => [
      'PATCH',
      'posts/bulk',
      {
        items: [
          { id: 6, data: { title: 'other' } },
          { id, data: { title: 'new' } },
        ],
      },
    ],
    twin: 200,
    hidden: 404,
  },
  { what: 'a bulk delete with others', request: id => ['DELETE', 'posts/bulk', { ids: [6, id] }], twin: 200, hidden: 404 },
  { what: 'links from it', request: id => ['POST', `posts/${id}/relations/tags`, { ids: [2] }], twin: 200, hidden: 404 },
  { what: 'other links from it', request: id => ['PUT', `posts/${id}/relations/tags`, { ids: [2, 3] }], twin: 200, hidden: 404 },
  {
    what: 'several relations of it',
    request: id => ['PUT', `posts/${id}/relations`, { relations: { tags: { ids: [2] } } }],
    twin: 200,
    hidden: 404,
  },
  { what: 'no more links from it', request: id => ['DELETE', `posts/${id}/relations/tags`, { ids: [1] }], twin: 200, hidden: 404 },
  { what: 'links to it', request: id => ['POST', 'tags/2/relations/posts', { ids: [6, id] }], twin: 200, hidden: 404 },
  { what: 'no more links to it', request: id => ['DELETE', 'tags/1/relations/posts', { ids: [id] }], twin: 200, hidden: 404 },
  { what: 'a reference to it', request: id => ['POST', 'comments', { body: 'new', postId: id }], twin: 201, hidden: 400 },
  { what: 'a change of a reference', request: id => ['PATCH', 'comments/106', { postId: id }], twin: 200, hidden: 400 },
]

/** Of what lies in the trash; that it does so is no reason here. */
const OF_THE_TRASH: Way[] = [
  { what: 'a restore', request: id => ['POST', `posts/${10 + id}/restore`], twin: 200, hidden: 404 },
  { what: 'a bulk restore with others', request: id => ['POST', 'posts/bulk/restore', { ids: [5, 10 + id] }], twin: 200, hidden: 404 },
  { what: 'a restore of its group', request: id => ['POST', 'posts/bulk/restore', { deletionId: `g${id}` }], twin: 200, hidden: 404 },
  { what: 'a purge', request: id => ['DELETE', `posts/${10 + id}?force=true`], twin: 200, hidden: 404 },
  { what: 'a purge of its group', request: id => ['DELETE', 'posts/bulk?force=true', { deletionId: `g${id}` }], twin: 200, hidden: 404 },
]

const ABOUT_TRASH: Way[] = [
  {
    what: 'a list with the trash',
    request: () => ['GET', 'posts?limit=100&onlyDeleted=true'],
    tells: ({ data }, id) => holds(data, 10 + id),
    twin: true,
    hidden: false,
  },
  {
    what: 'a total with the trash',
    request: id => ['GET', `posts?includeDeleted=true&filter=${only(10 + id)}`],
    tells: ({ meta }) => meta.total,
    twin: 1,
    hidden: 0,
  },
]

const OTHER
  = 'insert into posts (id, organization_id, title) values (6, 1, \'other\'); insert into comments (id, organization_id, body) values (106, 1, \'mine\')'

const REASONS = Object.entries(HIDDEN)
const across = (ways: readonly Way[], reasons = REASONS) => ways.flatMap(way => reasons.map(([reason, id]) => ({ ...way, reason, id })))
const IN_TRASH = REASONS.filter(([reason]) => reason !== 'in the trash')

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a row the caller cannot see', () => {
    let blog: Blog
    const fill = () => blog.opened.exec(`${CLEAR}; ${SEED.replaceAll('TIME', TIMES[engineCase.dialect])}; ${OTHER}`)
    beforeAll(async () => {
      blog = await openBlog(engineCase, { rules: RULES })
    })
    afterAll(() => blog?.opened.close())

    const dump = async () =>
      JSON.stringify([
        await blog.opened.all('select * from posts order by id'),
        await blog.opened.all('select * from comments order by id'),
        await blog.opened.all('select * from post_tags order by 1, 2'),
      ])
    const caller = { user: { id: 1, organizationId: 1 }, permissions: ['write'] }
    const ask = async ({ request, tells }: Way, id: number) => {
      const [method, path, body] = request(id)
      const answer = await blog.request(method, `/api/${path}`, { body, caller })
      return tells && answer.status === 200 ? tells(answer.body, id) : answer.status
    }

    describe('in a read', () => {
      beforeAll(fill)

      it.each([...across(READS), ...across(ABOUT_TRASH, IN_TRASH)])(
        'is not returned by $what, because it is $reason; its twin is',
        async ({ id, ...way }) => {
          expect([await ask(way, id), await ask(way, TWIN)]).toEqual([way.hidden, way.twin])
        },
      )
    })

    describe('in a write', () => {
      beforeEach(fill)

      it.each([...across(WRITES), ...across(OF_THE_TRASH, IN_TRASH)])(
        'is not changed by $what, because it is $reason; its twin is',
        async ({ id, ...way }) => {
          const before = await dump()
          expect(await ask(way, id)).toEqual(way.hidden)
          expect(await dump()).toBe(before)
          expect(await ask(way, TWIN)).toEqual(way.twin)
          expect(await dump()).not.toBe(before)
        },
      )
    })
  })
})
