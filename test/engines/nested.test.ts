/** On every engine: a write contains children with generated keys, and children of these. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { batch } from '../../src/runtime/plugins'
import { openBlog, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { dump, reset } from './support/scene'

const WRITER = { user: { id: 1, organizationId: 1 }, permissions: ['write'] }

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a write with children', () => {
    let blog: Blog
    beforeAll(async () => {
      blog = await openBlog(engineCase, {
        plugins: [batch()],
        nested: { posts: { comments: ['create', 'update', 'delete'], tags: ['link', 'unlink'] }, comments: { comments: ['create'] } },
      })
    })
    beforeEach(() => reset(blog, engineCase.dialect))
    afterAll(() => blog?.opened.close())

    const send = (method: string, path: string, body: unknown) => blog.request(method, `/api/${path}`, { body, caller: WRITER })
    const commentsOn = async (title: string) => (await blog.opened.all(`select c.body, r.body from comments c inner join posts p on p.id = c.post_id
      left join comments r on r.parent_id = c.id where p.title = '${title}' and c.deleted_at is null order by c.id, r.id`)).map(row => row.join(' < '))
    const comment = (body: string, ...replies: string[]) =>
      ({ body, ...replies.length > 0 && { comments: { create: replies.map(body => ({ body })) } } })

    it('creates them at all levels, in a single request and in a bulk', async () => {
      const single = await send('POST', 'posts', { title: 'new', comments: { create: [comment('a', 'a1', 'a2'), comment('b'), comment('c', 'c1')] } })
      expect([single.status, await commentsOn('new')]).toEqual([201, ['a < a1', 'a < a2', 'b < ', 'c < c1']])
      const items = Array.from({ length: 20 }, (_, index) =>
        ({ title: `post ${index}`, comments: { create: [comment(`${index} x`, `${index} x1`), comment(`${index} y`)] } }))
      expect((await send('POST', 'posts/bulk', { items })).status).toBe(200)
      for (const index of [0, 7, 19]) expect(await commentsOn(`post ${index}`)).toEqual([`${index} x < ${index} x1`, `${index} y < `])
    })

    it('changes, removes and adds them in one commit', async () => {
      const { status } = await send('PATCH', 'posts/1', { title: 'changed', comments: {
        create: [comment('new', 'reply')], update: [{ id: 12, data: { body: 'c12!', comments: { create: [{ body: 'r12' }] } } }], delete: [11] } })
      expect([status, await commentsOn('changed')]).toEqual([200, ['c12! < r12', 'new < reply']])
    })

    it('are part of a step of a batch', async () => {
      const { status, body } = await send('POST', 'batch', { steps: [
        { resource: 'comments', operation: 'create', data: { postId: 1, ...comment('first', 'r1', 'r2') }, as: 'first' },
        { resource: 'comments', operation: 'create', data: { body: 'r3', parentId: { $ref: 'first.id' } } },
        { resource: 'posts', operation: 'update', id: 1, data: { title: 'changed', comments: { delete: [11, 12] } } },
      ] })
      expect([status, body.data?.errors]).toEqual([200, undefined])
      expect([body.data.length, await commentsOn('changed')]).toEqual([3, ['first < r1', 'first < r2', 'first < r3']])
      const refused = await send('POST', 'batch', { steps: [
        { resource: 'posts', operation: 'update', id: 2, data: { comments: { delete: [21] } } },
        { resource: 'posts', operation: 'update', id: 2, data: { comments: { update: [{ id: 12, data: { body: 'x' } }] } } },
      ] })
      expect([refused.status, refused.body.data.errors]).toMatchObject([404, [{ step: 1, path: 'comments.update[0]' }]])
    })

    const tagsOf = async (title: string) => (await blog.opened.all(
      `select t.tag_id from post_tags t inner join posts p on p.id = t.post_id where p.title = '${title}' order by t.tag_id`)).map(([id]) => Number(id))

    it('links new records and existing ones, in a bulk and in a batch', async () => {
      const single = await send('POST', 'posts', { title: 'new', tags: { link: [2, 3] }, comments: { create: [comment('a', 'a1')] } })
      expect([single.status, await tagsOf('new'), await commentsOn('new')]).toEqual([201, [2, 3], ['a < a1']])
      expect((await send('PATCH', 'posts/1', { tags: { link: [2, 3], unlink: [1, 5] } })).status).toBe(200)
      expect(await tagsOf('one')).toEqual([2, 3])
      const items = Array.from({ length: 12 }, (_, index) => ({ title: `post ${index}`, tags: { link: [1 + index % 5] } }))
      expect((await send('POST', 'posts/bulk', { items })).status).toBe(200)
      for (const index of [0, 7, 11]) expect(await tagsOf(`post ${index}`)).toEqual([1 + index % 5])
      const { status, body } = await send('POST', 'batch', { steps: [
        { resource: 'posts', operation: 'create', data: { title: 'first', tags: { link: [4] } }, as: 'first' },
        { resource: 'posts', operation: 'update', id: { $ref: 'first.id' }, data: { title: 'renamed' } },
        { resource: 'posts', operation: 'update', id: 2, data: { tags: { link: [1] } } },
        { resource: 'posts', operation: 'create', data: { title: 'second', tags: { link: [1, 4] } } },
      ] })
      expect([status, body.data?.errors, await tagsOf('renamed'), await tagsOf('two'), await tagsOf('second')]).toEqual([200, undefined, [4], [1], [1, 4]])
    })

    it('includes the written rows in the response', async () => {
      const { body } = await send('POST', 'posts?include=tags,comments', { title: 'new', tags: { link: [3, 2] }, comments: { create: [comment('a')] } })
      expect([body.tags.map(({ id }: { id: number }) => id), body.comments.map(({ body }: { body: string }) => body)]).toEqual([[2, 3], ['a']])
    })

    it('writes nothing if one of them fails, and names it', async () => {
      const before = JSON.stringify(await dump(blog))
      for (const [body, path] of [
        [{ create: [comment('x')], update: [{ id: 12, data: {} }, { id: 21, data: {} }] }, 'comments.update[1]'],
        [{ create: [comment('x'), { ...comment('y'), parentId: 77 }] }, 'comments.create[1]'],
        [{ create: [comment('x')] }, 'tags.link[1]'],
      ] as const) {
        const tags = path.startsWith('tags') ? { link: [3, 77] } : { link: [3] }
        const answer = await send('PATCH', 'posts/1', { title: 'changed', comments: body, tags })
        expect([answer.status >= 400, answer.body.data?.path, JSON.stringify(await dump(blog))]).toEqual([true, path, before])
      }
    })
  })
})
