/** The built playground, on a database that it creates and fills. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { containsAll, newDraft, readDraft, writeDraft, type Draft } from '../../playground/app/explorer/draft'
import { EXAMPLES } from '../../playground/app/explorer/examples'
import { firstValue } from '../../playground/app/explorer/operators'
import { toPath } from '../../playground/app/explorer/path'
import type { ResourceView } from '../../playground/app/resources'
import { ADMIN, EDITOR, PUBLIC, WRITER } from './newsroom/callers'
import { CHECKS, count, findViews } from './newsroom/explorer'
import { describeCapabilities, describeTags } from './newsroom/relations'
import { startNewsroom, type Newsroom } from './newsroom/server'
import { describeTrash } from './newsroom/trash'

const folder = mkdtempSync(join(tmpdir(), 'newsroom-'))
const file = join(folder, 'first.sqlite')
let newsroom: Newsroom

const viewsOf = (as?: number) => findViews(newsroom, as)

beforeAll(async () => {
  newsroom = await startNewsroom(file)
})

afterAll(async () => {
  await newsroom?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Every row of every table. */
function dump({ rows }: Newsroom): Record<string, unknown[]> {
  const tables = rows<{ name: string }>(
    'select name from sqlite_master where type = \'table\' and name not like \'sqlite_%\' and name not like \'\\_\\_%\' escape \'\\\' order by name',
  )
  return Object.fromEntries(tables.map(({ name }) => [name, rows(`select * from ${name} order by 1, 2`)]))
}

const isoOf = (milliseconds: unknown) => new Date(milliseconds as number).toISOString()

describe('an empty database', () => {
  it('is filled with the same rows each time', async () => {
    const second = await startNewsroom(join(folder, 'second.sqlite'))
    const [once, again] = [dump(newsroom), dump(second)]
    await second.stop()
    expect(Object.keys(once)).toEqual([
      'api_tokens',
      'audit_log',
      'comments',
      'idempotency_keys',
      'media',
      'organizations',
      'posts',
      'posts_tags',
      'tags',
      'users',
      'webhook_deliveries',
      'webhooks',
    ])
    expect(once.posts).toHaveLength(2000)
    expect(again).toEqual(once)
  })
})

it('identifies each request, and not by what the client sends', async () => {
  const ids = await Promise.all([undefined, undefined, 'chosen-by-the-client'].map(async (id) => {
    const { headers } = await newsroom.request('/api/tags', id ? { headers: { 'x-request-id': id } } : {})
    return headers.get('x-request-id')
  }))
  expect(new Set(ids).size).toBe(3)
  for (const id of ids) expect(id).toMatch(/^[\da-f-]{36}$/)
})

it('counts the published posts of each author of an organisation in a read-only view', async () => {
  const { status, body } = await newsroom.request('/api/authorStats?sort=-views,authorId&limit=3&include=author', { as: EDITOR })
  const of = (column: string, author: number) =>
    newsroom.rows<{ n: number }>(`select ${column} as n from posts where author_id = ${author} and status = 'published' and deleted_at is null`)[0]!.n
  expect([status, body.data.length]).toEqual([200, 3])
  for (const { authorId, posts, views, organizationId, author } of body.data) {
    expect([posts, views]).toEqual([of('count(*)', authorId), of('coalesce(sum(views), 0)', authorId)])
    expect([author.id, author.organizationId]).toEqual([authorId, organizationId])
  }
  expect(new Set(body.data.map(({ organizationId }: { organizationId: number }) => organizationId)).size).toBe(1)
  expect((await newsroom.request('/api/authorStats/1', { as: ADMIN, method: 'DELETE' })).status).toBe(405)
})

it('computes how long a post takes to read, and counts the comments that each caller can see', async () => {
  const comments = newsroom.rows<{ post_id: number, status: string, created_by: number | null }>(
    'select post_id, status, created_by from comments where organization_id = 1 and deleted_at is null',
  )
  const [{ id: discussed }] = newsroom.rows<{ id: number }>(`select p.id from posts p join comments c on c.post_id = p.id
    where p.organization_id = 1 and p.status = 'published' and p.deleted_at is null and c.deleted_at is null and c.status = 'pending' limit 1`) as [{ id: number }]
  const countOf = (id: number, sees: (comment: typeof comments[number]) => boolean) =>
    comments.filter(comment => comment.post_id === id && sees(comment)).length
  const seen: number[] = []
  for (const [as, sees] of [
    [undefined, ({ status }) => status === 'approved'],
    [WRITER, ({ status, created_by }) => status === 'approved' || created_by === WRITER],
    [EDITOR, () => true],
  ] as [number | undefined, (comment: typeof comments[number]) => boolean][]) {
    const path = `/api/posts?filter={"status":"published"}&sort=-commentCount,id&limit=50&fields=id,body,readingTime,commentCount`
    const { status, body } = await newsroom.request(path, { as })
    expect([status, body.data.length]).toEqual([200, 50])
    for (const post of body.data) {
      expect([post.id, post.readingTime]).toEqual([post.id, Math.ceil(post.body.trim().split(/[ \n]/).length / 200)])
      expect([post.id, post.commentCount]).toEqual([post.id, countOf(post.id, sees)])
    }
    const counts = body.data.map(({ commentCount }: { commentCount: number }) => commentCount)
    expect(counts).toEqual(counts.toSorted((a: number, b: number) => b - a))
    const one = await newsroom.request(`/api/posts/${discussed}`, { as })
    expect(one.body.commentCount).toBe(countOf(discussed, sees))
    seen.push(one.body.commentCount)
  }
  expect(seen[0]).toBeLessThan(seen[2]!)

  const draft = { title: 'A long read', slug: 'a-long-read', status: 'draft', readingTime: 99 }
  const created = await newsroom.request('/api/posts', { as: EDITOR, method: 'POST', body: { ...draft, body: `${'word '.repeat(400)}word` } })
  expect([created.status, created.body.readingTime, created.body.commentCount]).toEqual([201, 3, 0])
  const path = `/api/posts/${created.body.id}`
  const shorter = await newsroom.request(path, { as: EDITOR, method: 'PATCH', body: { body: `${'word\n'.repeat(199)}word` } })
  expect([shorter.status, shorter.body.readingTime]).toEqual([200, 1])
  expect((await newsroom.request(`${path}?force=true`, { as: ADMIN, method: 'DELETE' })).status).toBeLessThan(300)
})

describe('the public', () => {
  it('reads the second page of five published posts of the public organisation, and their total', async () => {
    const { status, body } = await newsroom.request('/api/posts?page=2&limit=5')
    const expected = newsroom.rows(`select * from posts where ${PUBLIC} order by id limit 5 offset 5`)
    expect(status).toBe(200)
    expect(body.meta).toEqual({ page: 2, limit: 5, total: count(newsroom.rows, PUBLIC) })
    expect(body.data).toHaveLength(5)
    expect(body.data).toEqual(
      expected.map(row =>
        expect.objectContaining({
          id: row.id,
          organizationId: 1,
          status: 'published',
          title: row.title,
          slug: row.slug,
          body: row.body,
          featured: row.featured === 1,
          publishedAt: isoOf(row.published_at),
          deletedAt: null,
        }),
      ),
    )
  })

  it.each([
    ['GET', '/api/_m2m/debug-detection'],
    ['POST', '/api/admin/m2m/sync'],
  ])('receives 404 for a route of earlier versions, like every caller: %s %s', async (method, path) => {
    for (const as of [undefined, WRITER, ADMIN])
      expect((await newsroom.request(path, { method, as, ...(method === 'POST' && { body: {} }) })).status).toBe(404)
  })

  it('receives 304 for a response that it has, with the headers of the response', async () => {
    const { id } = (await newsroom.request('/api/posts?limit=1')).body.data[0]
    for (const path of [`/api/posts/${id}`, `/api/posts/${id}?fields=id`, '/api/posts?limit=5', '/api/posts?fields=id&limit=2']) {
      const { headers, body } = await newsroom.request(path)
      const etag = headers.get('etag')!
      expect(etag).toMatch(/^"[\w-]{16}(?:\.[\w-]{16})?"$/)
      expect([headers.get('content-type'), typeof body]).toEqual(['application/json', 'object'])
      for (const method of ['GET', 'HEAD']) {
        const unchanged = await newsroom.request(path, { method, headers: { 'if-none-match': `"other", W/${etag}` } })
        expect([unchanged.status, unchanged.body]).toEqual([304, ''])
        for (const name of ['etag', 'cache-control', 'vary']) expect(unchanged.headers.get(name)).toBe(headers.get(name))
      }
    }
  })

  it('cannot delete', async () => {
    const before = newsroom.rows('select * from posts where id = 1')
    const { status, body } = await newsroom.request('/api/posts/1', { method: 'DELETE' })
    expect({ status, code: body.data.code }).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
    expect(newsroom.rows('select * from posts where id = 1')).toEqual(before)
  })
})

describe('the query explorer', () => {
  it('has exactly one check for each example', () => {
    expect(EXAMPLES.map(({ label }) => label).sort()).toEqual(Object.keys(CHECKS).sort())
  })

  it.each(EXAMPLES)('returns the rows of the tables: $label', async ({ label, draft }) => {
    const { as, check } = CHECKS[label]!
    const { fields } = (await viewsOf(as)).get(draft.resource)!
    const answer = await newsroom.request(toPath(draft, fields), { as })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    await check(answer, newsroom)
  })

  it.each(EXAMPLES)('stores a query in the address of the page: $label', async ({ draft }) => {
    const views = await viewsOf(ADMIN)
    expect(readDraft(writeDraft(draft), name => views.get(name))).toEqual(draft)
  })

  it.each([
    '',
    '[]',
    'null',
    '{"resource":"__proto__","fields":["constructor"],"include":{"toString":{}},"conditions":[{"field":"nope","operator":"$eq"}]}',
    '{"page":-1,"limit":"x","paging":7',
  ])('reads an invalid address as an empty query: %s', async (text) => {
    const views = await viewsOf(ADMIN)
    expect(readDraft(text, name => views.get(name))).toEqual(newDraft())
  })

  it('leaves out what the caller cannot use', async () => {
    const views = await viewsOf()
    const draft = newDraft({
      include: { author: { limit: 0, include: {} }, tags: { limit: 0, include: { organization: { limit: 0, include: {} } } } },
      fields: ['title', 'passwordHash'],
    })
    expect(readDraft(writeDraft(draft), name => views.get(name))).toEqual({
      ...draft,
      include: { tags: draft.include.tags },
      fields: ['title'],
    })
    expect(containsAll(readDraft(writeDraft(draft), name => views.get(name)), writeDraft(draft))).toBe(false)
    expect(containsAll(newDraft({ fields: ['id'], limit: 5 }), '{"limit":5,"fields":["id"]}')).toBe(true)
  })

  // As an administrator, who can read every field.
  describe.each(['posts', 'comments', 'tags', 'media', 'users', 'organizations', 'authorStats'])('on %s', (name) => {
    const run = (changes: Partial<Draft>, { fields }: ResourceView) =>
      newsroom.request(toPath(newDraft({ resource: name, limit: 1, ...changes }), fields), { as: ADMIN })

    it('offers only conditions that the API accepts, with the value that they have at first', async () => {
      const view = (await viewsOf(ADMIN)).get(name)!
      const conditions = Object.entries(view.fields).flatMap(([field, described]) => described.operators.map(operator =>
        ({ field, operator, value: firstValue(described, operator) })))
      expect(conditions.length).toBeGreaterThan(Object.keys(view.fields).length)
      const refused = []
      for (const condition of conditions) {
        const { status, body } = await run({ conditions: [condition] }, view)
        if (status !== 200) refused.push({ ...condition, status, body })
      }
      expect(refused).toEqual([])
    })

    it('offers exactly the fields of a record', async () => {
      const view = (await viewsOf(ADMIN)).get(name)!
      const { body } = await newsroom.request(`/api/${name}?limit=1`, { as: ADMIN })
      expect(Object.keys(view.fields).filter(field => view.fields[field]!.readable).sort()).toEqual(Object.keys(body.data[0]).sort())
    })

    it('offers relations and their targets as the API has them', async () => {
      const views = await viewsOf(ADMIN)
      const view = views.get(name)!
      for (const [relation, { target, kind }] of Object.entries(view.relations)) {
        const next = Object.fromEntries(Object.keys(views.get(target)!.relations).map(inner => [inner, { limit: 0, include: {} }]))
        const { status, body } = await run({ include: { [relation]: { limit: kind === 'one' ? 0 : 1, include: next } } }, view)
        expect({ relation, status, ...status !== 200 && { body } }).toEqual({ relation, status: 200 })
        expect(Array.isArray(body.data[0][relation])).toBe(kind !== 'one')
      }
    })
  })
})

describe('the number of statements', () => {
  const traceOf = async (id: string) => (await newsroom.request(`/api/demo/statements/${id}`)).body as string[]
  const statements = async (path: string, as?: number) => {
    const id = crypto.randomUUID()
    await newsroom.request(path, { as, headers: { 'x-demo-trace': id } })
    return (await traceOf(id)).length
  }

  it.each([
    [0, 'a refusal', '/api/posts?onlyDeleted=true'],
    [1, 'a record', '/api/posts/1?'],
    [1, 'a page by cursor', '/api/posts?cursor='],
    [1, 'a page without a count', '/api/posts?count=none'],
    [2, 'a page and its total', '/api/posts?page=1'],
    [3, 'a page, its total and its sums', '/api/posts?page=1&aggregate=sum(views)'],
    [5, 'a page, its total and three levels', '/api/posts?sort=-publishedAt&include=comments.author.organization', EDITOR],
  ])('is %i for %s, however many rows there are', async (expected, _, path, as?: number) => {
    for (const limit of [2, 100]) expect(await statements(`${path}&limit=${limit}`, as)).toBe(expected)
  })

  it('is counted per request, also when other requests run meanwhile', async () => {
    const slow = async (milliseconds: number) => {
      const id = crypto.randomUUID()
      const { status } = await newsroom.request('/api/posts/1', {
        method: 'PATCH',
        as: EDITOR,
        body: {},
        bodyDelay: milliseconds,
        headers: { 'x-demo-trace': id },
      })
      return { status, own: await traceOf(id) }
    }
    const { own } = await slow(0)
    expect(own.length).toBeGreaterThan(0)
    const waiting = slow(300)
    await setTimeout(100)
    expect(
      await Promise.all(['/api/posts/1', '/api/posts?page=1', '/api/posts?include=tags,comments&limit=20'].map(path => statements(path))),
    ).toEqual([1, 2, 4])
    expect(await waiting).toEqual({ status: 200, own })
  })

  it('is zero for a response of the cache, which is stored although the statements are counted', async () => {
    const path = '/api/organizations?fields=id,name'
    const states = []
    for (let index = 0; index < 2; index++)
      states.push([(await newsroom.request(path, { as: EDITOR })).headers.get('cache-status'), await statements(path, EDITOR)])
    expect(states).toEqual([['auto-api; fwd=miss; stored', 0], [expect.stringMatching(/^auto-api; hit; ttl=\d+$/), 0]])
  })

  it('is not disclosed for requests without a trace, nor for unknown ids', async () => {
    for (const id of ['0', '__proto__', crypto.randomUUID()]) expect(await traceOf(id)).toEqual([])
  })
})

describe('bulk edits and the trash', () => describeTrash(() => newsroom))

describe('the tags of a post', () => describeTags(() => newsroom))

describe('capabilities', () => describeCapabilities(() => newsroom))

describe('the pages', () => {
  const cookie = (id: number) => ({ cookie: `newsroom-caller=${id}` })

  it.each([
    ['/records?resource=posts&limit=5', 'Choose all rows of this page'],
    ['/explore', 'Run the query'],
    [`/explore?q=${encodeURIComponent(writeDraft(EXAMPLES[0]!.draft))}`, 'sort=-views'],
    ['/trash', 'Restore group'],
    ['/trash?resource=comments', 'Comments in the trash'],
    ['/tagging', 'Add tag'],
    ['/permissions', 'comments.authorId'],
    ['/tokens', 'Create token'],
  ])('are rendered with the caller\'s rows: %s', async (path, text) => {
    const { status, body } = await newsroom.request(path, { headers: cookie(EDITOR) })
    expect(status).toBe(200)
    expect(body).toContain(text)
    expect(body).not.toContain('role="alert"')
  })

  it('have the columns that the caller can read', async () => {
    const columns = async (as: number) =>
      [
        ...String((await newsroom.request('/records?resource=users', { headers: cookie(as) })).body).matchAll(
          /<th [^>]*>(?:<!--[^>]*-->|\s)*([A-Z]\w+)/g,
        ),
      ].map(([, label]) => label)
    expect(await columns(WRITER)).toEqual(['Id', 'Name', 'Role', 'Actions'])
    expect(await columns(EDITOR)).toEqual(['Id', 'Name', 'Role', 'Email', 'Actions'])
    expect(await columns(ADMIN)).toEqual(['Id', 'Name', 'Role', 'Email', 'Salary', 'Actions'])
  })

  it.each([
    [undefined, '401: Sign in to do this.'],
    [WRITER, '403: You do not have permission to do this.'],
  ])('show the refusal of the trash, as %s', async (as, problem) => {
    const { body } = await newsroom.request('/trash', { headers: as === undefined ? {} : cookie(as) })
    expect(body).toContain(problem)
  })
})

describe('the tag picker', () => {
  it.each([{ who: 'an anonymous caller' }, { who: 'a writer, on a post of another', as: WRITER }])(
    'offers no change to callers who cannot change tags: $who',
    async ({ as }) => {
      const post = newsroom.rows<{ id: number }>(
        `select id from posts where ${PUBLIC} and author_id != ? and created_by != ? order by id limit 1`,
        WRITER,
        WRITER,
      )[0]!.id
      const { status, body } = await newsroom.request(`/tagging?post=${post}`, {
        headers: as === undefined ? {} : { cookie: `newsroom-caller=${as}` },
      })
      expect(status).toBe(200)
      expect(body).toContain('This caller can read the tags of this post, but not change them.')
      expect(body).not.toContain('Add tag')
    },
  )
})

describe('a restart', () => {
  it('keeps changed rows, and does not fill the database again', async () => {
    const before = dump(newsroom)
    expect(before.posts).toHaveLength(1999)
    await newsroom.stop()
    newsroom = await startNewsroom(file)
    expect(dump(newsroom)).toEqual(before)
  })
})
