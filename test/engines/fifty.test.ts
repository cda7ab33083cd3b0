/** On every engine with a pool: fifty concurrent requests for the same rows leave the result of some order, and nothing is half-written. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBlog, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { send, reset, WRITER, type TestRequest } from './support/scene'

const FIFTY = Array.from({ length: 50 }, (_, index) => index)

describe.each(ENGINE_CASES.filter(({ pooled }) => pooled))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('fifty concurrent requests', () => {
    let blog: Blog
    beforeAll(async () => {
      blog = await openBlog(engineCase)
    })
    beforeEach(() => reset(blog, engineCase.dialect))
    afterAll(() => blog?.opened.close())

    const one = async (sql: string) => (await blog.opened.all(sql)).map(row => row.length === 1 ? row[0] : row)
    /** Active rows of a deleted parent, and rows with only one of `deletedAt` and `deletionId`. */
    const inconsistentRows = () =>
      one(`select c.body from comments c left join posts p on p.id = c.post_id left join comments q on q.id = c.parent_id
      where (c.deleted_at is null and (p.deleted_at is not null or q.deleted_at is not null)) or (c.deleted_at is null) <> (c.deletion_id is null)
      union all select title from posts where (deleted_at is null) <> (deletion_id is null)`)

    async function all(requests: readonly TestRequest[]) {
      const answers = await Promise.all(requests.map(async ([method, path, body]) => {
        const { status, headers, body: answer } = await blog.request(method, `/api/${path}`, { body, caller: WRITER })
        // A 503 is a valid response if it has `Retry-After`.
        if (status >= 500) expect([status, answer.data?.code, headers.get('retry-after')]).toEqual([503, 'BUSY', '1'])
        return { status, body: answer }
      }))
      expect(await inconsistentRows()).toEqual([])
      return answers
    }
    const done = (answers: readonly { status: number }[]) => answers.filter(({ status }) => status < 300).length
    const others = (answers: readonly { status: number }[], ...known: number[]) =>
      answers.filter(({ status }) => status >= 300 && ![503, ...known].includes(status))

    it('update one row, and the last update remains', async () => {
      const answers = await all(FIFTY.map(index => ['PATCH', 'posts/1', { title: `by ${index}` }]))
      expect(others(answers)).toEqual([])
      const written = answers.flatMap(({ status, body }) => status === 200 ? [body.title] : [])
      expect(written).toContain((await one('select title from posts where id = 1'))[0])
    })

    it.each(['', '?force=true'])('delete one row, and one of them deletes it with its dependents: %s', async (query) => {
      const answers = await all(FIFTY.map(() => ['DELETE', `posts/1${query}`]))
      expect(done(answers)).toBe(1)
      expect(others(answers, 404)).toEqual([])
      const left = await one(
        `select deletion_id from posts where id = 1 union all select deletion_id from comments where id in (11, 12, 111)`,
      )
      expect(left).toEqual(query ? [] : Array.from({ length: 4 }, () => answers.find(({ status }) => status === 200)!.body.deletionId))
    })

    it('restore a group, and one of them restores all of it', async () => {
      const answers = await all(FIFTY.map(() => ['POST', 'posts/bulk/restore', { deletionId: 'd4' }]))
      expect(done(answers)).toBe(1)
      expect(others(answers, 404, 409)).toEqual([])
      expect(
        await one('select id from posts where deleted_at is not null union all select id from comments where deleted_at is not null'),
      ).toEqual([42])
    })

    it('delete and restore one row in turn', async () => {
      const answers = await all(FIFTY.map(index => index % 2 ? ['POST', 'posts/1/restore'] : ['DELETE', 'posts/1']))
      expect(others(answers, 404)).toEqual([])
      const [deletes, restores] = [0, 1].map(odd => done(answers.filter((_, index) => index % 2 === odd))) as [number, number]
      const group = (await one('select deletion_id from posts where id = 1'))[0]
      expect(deletes - restores).toBe(group === null ? 0 : 1)
      expect(await one('select distinct deletion_id from comments where id in (11, 12, 111)')).toEqual([group])
      if (group !== null) expect(answers.map(({ body }) => body.deletionId)).toContain(group)
    })

    it('write batches over the same rows in opposite orders, and each is all or nothing', async () => {
      const ids = [1, 2, 3]
      const answers = await all(
        FIFTY.map(index => [
          'PATCH',
          'posts/bulk',
          { items: (index % 2 ? ids : ids.toReversed()).map(id => ({ id, data: { title: `${id} by ${index}` } })) },
        ]),
      )
      expect(others(answers)).toEqual([])
      const writers = (await one('select title from posts where id in (1, 2, 3)')).map(title => String(title).slice(5))
      expect(new Set(writers).size).toBe(1)
      expect(answers[Number(writers[0])]!.status).toBe(200)
    })

    it('delete overlapping batches, and no two that share a row succeed', async () => {
      const pairs = [[1, 2], [2, 3], [3, 1]]
      const answers = await all(FIFTY.map(index => ['DELETE', 'posts/bulk', { ids: pairs[index % 3] }]))
      expect(done(answers)).toBe(1)
      expect(others(answers, 404)).toEqual([])
      const given = answers
        .find(({ status }) => status === 200)!
        .body.data.map(({ id, deletionId }: { id: number, deletionId: string }) => [Number(id), deletionId])
      expect(
        await blog.opened.all('select id, deletion_id from posts where id in (1, 2, 3) and deleted_at is not null order by id'),
      ).toEqual(given.sort())
    })

    it('comment on a post that is deleted and restored, and no comment is lost', async () => {
      const answers = await all(
        FIFTY.map((index): TestRequest =>
          index % 10 === 0
            ? ['DELETE', 'posts/1']
            : index % 10 === 5
              ? ['POST', 'posts/1/restore']
              : ['POST', 'comments', { body: `late ${index}`, postId: 1 }],
        ),
      )
      expect(others(answers, 404, 400)).toEqual([])
      const written = answers.flatMap(({ status, body }) => status === 201 ? [body.body] : [])
      expect((await one(`select body from comments where body like 'late%'`)).sort()).toEqual(written.sort())
    })

    it('replace sets of links, and one of the sets remains', async () => {
      const sets = [[1, 2], [2, 3, 4], [5], [1, 5]]
      const answers = await all(FIFTY.map(index => ['PUT', 'posts/1/relations/tags', { ids: sets[index % sets.length] }]))
      expect(others(answers)).toEqual([])
      expect(sets).toContainEqual(await one('select tag_id from post_tags where post_id = 1 order by tag_id'))
    })

    it('add and remove links from both sides, and links added more often than removed exist', async () => {
      const requests: TestRequest[] = [
        ['POST', 'posts/1/relations/tags', { ids: [3] }],
        ['POST', 'tags/3/relations/posts', { ids: [1] }],
        ['DELETE', 'posts/1/relations/tags', { ids: [3] }],
      ]
      const answers = await all(FIFTY.map(index => requests[index % 3]!))
      expect(others(answers)).toEqual([])
      const sum = (name: string) => answers.reduce((total, { body }) => total + (body[name] ?? 0), 0)
      expect(await one('select 1 from post_tags where post_id = 1 and tag_id = 3')).toHaveLength(sum('added') - sum('removed'))
    })

    it('do not affect the next request', async () => {
      expect(await send(blog, ['PATCH', 'posts/1', { title: 'calm' }])).toBe('200')
    })
  })
})
