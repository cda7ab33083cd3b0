/** On every engine a commit that conflicts in every attempt returns 503 `BUSY` with `Retry-After`, and writes nothing. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CLEAR, openBlog, TIMES, type Blog, type BlogDatabase } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'

const caller = { user: { id: 1, organizationId: 1 }, permissions: ['write'] }
const SEED = `insert into posts (id, organization_id, title) values (1, 1, 'one'), (2, 1, 'two'); insert into comments (id, organization_id, post_id, body) values (91, 1, 1, 'c'), (92, 1, 2, 'd');
  insert into posts (id, organization_id, title, deleted_at, deletion_id) values (3, 1, 'three', TIME, 'd3')`

/** Each writes a row that another transaction has locked. */
const WRITES: [what: string, method: string, path: string, body?: unknown][] = [
  ['an update', 'PATCH', 'api/posts/1', { title: 'new' }],
  ['a delete with dependents', 'DELETE', 'api/posts/1'],
  ['a restore', 'POST', 'api/posts/3/restore'],
  ['a purge', 'DELETE', 'api/posts/1?force=true'],
  ['a reference to it', 'POST', 'api/comments/bulk', { items: [{ body: 'new', postId: 1 }] }],
  ['a bulk update', 'PATCH', 'api/posts/bulk', { items: [2, 1].map(id => ({ id, data: { title: `new ${id}` } })) }],
  ['a bulk delete', 'DELETE', 'api/posts/bulk', { ids: [2, 1] }],
  ['a restore of a group', 'POST', 'api/posts/bulk/restore', { deletionId: 'd3' }],
  ['a link', 'POST', 'api/posts/1/relations/tags', { ids: [1] }],
  ['several relations', 'PUT', 'api/posts/1/relations', { relations: { tags: { ids: [1, 2] } } }],
  ['statements of the app', 'POST', 'together'],
]

describe.each(ENGINE_CASES.filter(({ pooled }) => pooled))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a row that another transaction has locked', () => {
    let blog: Blog
    beforeAll(async () => {
      blog = await openBlog(engineCase, {
        lockTimeout: engineCase.dialect === 'mysql' ? 0 : 10,
        async endpoints(tables) {
          const { createEndpoint, atomicWrites } = await import('../../src/runtime/server/utils')
          const rename = (id: number, title: string) => (db: BlogDatabase) =>
            db
              .update(tables.posts)
              .set({ title })
              .where(eq(tables.posts.id as never, id))
          return {
            'POST /together': createEndpoint({
              handler: async ctx => (await atomicWrites<BlogDatabase>(ctx, [rename(2, 'half'), rename(1, 'whole')])).length,
            }),
          }
        },
      })
    })
    beforeEach(() => blog.opened.exec(`${CLEAR}; ${SEED.replaceAll('TIME', TIMES[engineCase.dialect])}`))
    afterAll(() => blog?.opened.close())

    const dump = async () => [
      await blog.opened.all('select * from posts order by id'),
      await blog.opened.all('select * from comments order by id'),
      await blog.opened.all('select * from post_tags order by 1, 2'),
    ]
    const lock = (id: number) =>
      blog.opened.openTransaction(engineCase.dialect === 'sqlite' ? 'select 1' : `select * from posts where id in (${id}, 3) for update`)
    const ask = (method: string, path: string, body?: unknown) => blog.request(method, `/${path}`, { body, caller })

    it('returns 503 with Retry-After for every kind of write, and nothing is written', async () => {
      const before = await dump()
      const endTransaction = await lock(1)
      const answers = await Promise.all(WRITES.map(async ([what, ...request]) => {
        const { status, body, headers } = await ask(...request)
        return [what, status, body?.data?.code, headers.get('retry-after')]
      }))
      await endTransaction()
      expect(answers).toEqual(WRITES.map(([what]) => [what, 503, 'BUSY', '1']))
      expect(await dump()).toEqual(before)
    })

    it.each(WRITES)('is written after it is unlocked: %s', async (_what, ...request) => {
      const before = await dump()
      expect((await ask(...request)).status).toBeLessThan(300)
      expect(await dump()).not.toEqual(before)
    })

    it('is written without a failure when it is unlocked in time', async () => {
      const endTransaction = await lock(1)
      const pending = ask('PATCH', 'api/posts/1', { title: 'new' })
      await new Promise(resolve => setTimeout(resolve, 60))
      await endTransaction()
      expect((await pending).status).toBe(200)
    })
  })
})
