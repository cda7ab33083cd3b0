/** On every engine a hook can limit a write to rows that meet a condition. No other write comes between the check and the write. */
import { sql, type SQL } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { defineAutoApiPlugin } from '../../src/runtime/server/plugin/contract'
import type { ConditionalContext, ResourceHooks } from '../../src/runtime/server/registration'
import { openBlog, type Blog, type BlogDatabase } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { dump, reset, send, type TestRequest } from './support/scene'

const titleIs = (title: string) => sql`title = ${title}`
const idIs = (...ids: number[]) => sql`id in ${ids}`
const comments = (where = '1 = 1') => sql.raw(`exists (select 1 from comments where comments.post_id = posts.id and ${where})`)

/** Each kind of write, a condition that its rows meet, and one that at least one of them does not meet. */
const WRITES: readonly [name: string, request: TestRequest, met: SQL, unmet: SQL][] = [
  ['an update', ['PATCH', 'posts/1', { title: 'new' }], titleIs('one'), titleIs('two')],
  ['an update without values', ['PATCH', 'posts/1', {}], titleIs('one'), titleIs('two')],
  ['a delete that moves rows to the trash', ['DELETE', 'posts/1'], titleIs('one'), titleIs('two')],
  ['a delete from a table without trash', ['DELETE', 'tags/3'], sql`name = 'c'`, sql`name = 'd'`],
  ['a purge', ['DELETE', 'posts/1?force=true'], titleIs('one'), titleIs('two')],
  ['a purge in a table that references itself', ['DELETE', 'comments/11?force=true'], sql`body = 'c11'`, sql`body = 'c12'`],
  ['a restore', ['POST', 'posts/4/restore'], titleIs('four'), titleIs('five')],
  [
    'a bulk update',
    [
      'PATCH',
      'posts/bulk',
      {
        items: [
          { id: 1, data: { title: 'a' } },
          { id: 2, data: { title: 'b' } },
        ],
      },
    ],
    idIs(1, 2),
    idIs(1),
  ],
  ['a bulk delete', ['DELETE', 'posts/bulk', { ids: [1, 2] }], idIs(1, 2), idIs(2)],
  ['a bulk delete from a table without trash', ['DELETE', 'tags/bulk', { ids: [3, 4] }], idIs(3, 4), idIs(3)],
  ['a bulk purge', ['DELETE', 'posts/bulk?force=true', { ids: [1, 2] }], idIs(1, 2), idIs(1)],
  ['a bulk purge in a table that references itself', ['DELETE', 'comments/bulk?force=true', { ids: [11, 12] }], idIs(11, 12), idIs(11)],
  ['a bulk restore', ['POST', 'posts/bulk/restore', { ids: [4, 5] }], idIs(4, 5), idIs(5)],
  ['a restore of a group', ['POST', 'posts/bulk/restore', { deletionId: 'd4' }], sql`deletion_id = 'd4'`, idIs(4, 41, 411)],
  ['a purge of a group', ['DELETE', 'posts/bulk?force=true', { deletionId: 'd4' }], sql`deletion_id = 'd4'`, idIs(4, 41, 411)],
]

/** Conditions over rows that the write itself changes. They see the rows as they were before the write. */
const CASCADES: readonly [name: string, request: TestRequest, condition: SQL, status: string][] = [
  [
    'a purge of a post with comments, only if it has none',
    ['DELETE', 'posts/1?force=true'],
    sql`not ${comments()}`,
    '412 PRECONDITION_FAILED',
  ],
  ['a purge of a post without comments, only if it has none', ['DELETE', 'posts/3?force=true'], sql`not ${comments()}`, '200'],
  ['a purge of a post with comments, only if it has some', ['DELETE', 'posts/1?force=true'], comments(), '200'],
  [
    'a delete of a post with comments, only if it has none',
    ['DELETE', 'posts/1'],
    sql`not ${comments('comments.deleted_at is null')}`,
    '412 PRECONDITION_FAILED',
  ],
  [
    'a restore of a post, only if all of its comments are in the trash',
    ['POST', 'posts/4/restore'],
    sql`not ${comments('comments.deleted_at is null')}`,
    '200',
  ],
  [
    'a restore of a post, only if it has active comments',
    ['POST', 'posts/4/restore'],
    comments('comments.deleted_at is null'),
    '412 PRECONDITION_FAILED',
  ],
]

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a condition of a hook', () => {
    let blog: Blog
    let condition: SQL | undefined
    let beforeCommit: () => Promise<void>
    /** The ids of the rows for which a hook ran. */
    let hooked: unknown[]

    const limit = async (id: unknown, ctx: ConditionalContext) => {
      hooked.push(id)
      ctx.condition = condition
      await beforeCommit()
    }
    const hooks: ResourceHooks = {
      beforeUpdate: (id, _data, ctx) => limit(id, ctx),
      beforeDelete: limit,
      beforeRestore: limit,
      beforePurge: limit,
    }

    beforeAll(async () => {
      blog = await openBlog(engineCase, { hooks: { posts: hooks, comments: hooks, tags: hooks } })
    })
    beforeEach(async () => {
      await reset(blog, engineCase.dialect)
      await blog.opened.exec(`delete from tags where id > 2; insert into tags values (3, 'c'), (4, 'd')`)
      condition = undefined
      hooked = []
      beforeCommit = async () => {}
    })
    afterAll(() => blog?.opened.close())

    it.each(WRITES)('lets %s change rows that meet it', async (_name, request, met) => {
      condition = met
      expect(await send(blog, request)).toBe('200')
    })

    it.each(WRITES)('stops %s completely if one row does not meet it', async (_name, request, _met, unmet) => {
      const before = await dump(blog)
      condition = unmet
      const body: object = request[2] ?? {}
      expect(await send(blog, request)).toBe('ids' in body || 'items' in body ? '412 BULK_FAILED' : '412 PRECONDITION_FAILED')
      expect(await dump(blog)).toEqual(before)
    })

    it.each(CASCADES)('sees the rows before the cascade: %s', async (_name, request, given, status) => {
      const before = await dump(blog)
      condition = given
      expect(await send(blog, request)).toBe(status)
      if (status !== '200') expect(await dump(blog)).toEqual(before)
    })

    it.each(WRITES.filter(([, [, path]]) => !path.includes('bulk') && !path.startsWith('tags')))(
      'returns 404 instead of 412 if %s loses sight of its row before the commit',
      async (_name, request, met, unmet) => {
        const table = request[1].split('/')[0]
        for (const given of [met, unmet]) {
          await reset(blog, engineCase.dialect)
          condition = given
          beforeCommit = () => blog.opened.exec(`update ${table} set organization_id = 2`)
          expect(await send(blog, request)).toBe('404 NOT_FOUND')
        }
      },
    )

    it('returns 412 if another write changes the row after the hook and before the commit', async () => {
      condition = titleIs('one')
      beforeCommit = () => blog.opened.exec(`update posts set title = 'taken' where id = 1`)
      expect(await send(blog, ['PATCH', 'posts/1', { title: 'new' }])).toBe('412 PRECONDITION_FAILED')
    })

    it('does not disclose a row that the caller cannot see', async () => {
      condition = titleIs('theirs')
      for (const request of [['PATCH', 'posts/9', { title: 'x' }], ['DELETE', 'posts/9'], ['DELETE', 'posts/9?force=true']] as const) {
        expect(await send(blog, request)).toBe('404 NOT_FOUND')
      }
      expect(hooked).toEqual([])
    })

    it('names the items of a batch that do not meet it', async () => {
      condition = idIs(2)
      const { body } = await blog.request('PATCH', '/api/posts/bulk', {
        body: { items: [1, 2, 3].map(id => ({ id, data: { title: `title ${id}` } })) },
        caller: { user: { id: 1, organizationId: 1 }, permissions: ['write'] },
      })
      expect(body.data.errors).toEqual([
        expect.objectContaining({ index: 0, id: 1, statusCode: 412, code: 'PRECONDITION_FAILED' }),
        expect.objectContaining({ index: 2, id: 3, statusCode: 412, code: 'PRECONDITION_FAILED' }),
      ])
    })

    it.each<[name: string, request: (index: number) => TestRequest, condition: SQL, lost: string]>([
      ['updates', index => ['PATCH', 'posts/1', { title: `winner ${index}` }], titleIs('one'), '412 PRECONDITION_FAILED'],
      [
        'bulk updates',
        index => [
          'PATCH',
          'posts/bulk',
          {
            items: [
              { id: 1, data: { title: `winner ${index}` } },
              { id: 2, data: { title: `second ${index}` } },
            ],
          },
        ],
        sql`title in ('one', 'two')`,
        '412 BULK_FAILED',
      ],
      ['deletes', () => ['DELETE', 'posts/1'], titleIs('one'), '404 NOT_FOUND'],
      ['restores', () => ['POST', 'posts/4/restore'], sql`deletion_id = 'd4'`, '404 NOT_FOUND'],
      ['purges', () => ['DELETE', 'posts/2?force=true'], comments(), '404 NOT_FOUND'],
    ])('lets exactly one of several concurrent %s succeed', async (_name, request, given, lost) => {
      condition = given
      let waiting = 0
      let release = () => {}
      const all = new Promise<void>((resolve) => {
        release = resolve
      })
      const expected = 6 * (Array.isArray((request(0)[2] as { items?: unknown } | undefined)?.items) ? 2 : 1)
      // No request commits before the hooks of all requests have run, so that none of them starts after another one has finished.
      beforeCommit = async () => {
        if (++waiting === expected || waiting > 6) release()
        await Promise.race([all, new Promise(resolve => setTimeout(resolve, 200))])
      }
      const statuses = await Promise.all(Array.from({ length: 6 }, (_, index) => send(blog, request(index))))
      expect(statuses.toSorted()).toEqual(['200', ...Array.from({ length: 5 }, () => lost)])
    })
  })

  describe.skipIf(!isAvailable(engineCase))('a condition of a hook, with a plugin that writes in the commit', () => {
    let blog: Blog
    let condition: SQL | undefined
    let ids = 100

    beforeAll(async () => {
      let tags: unknown
      const limit = (_id: unknown, ctx: ConditionalContext) => void (ctx.condition = condition)
      blog = await openBlog(engineCase, {
        plugins: [
          defineAutoApiPlugin({
            name: 'log',
            setup({ resources }) {
              tags = resources.get('tags')!.table
            },
            hooks: {
              posts: { beforeUpdate: (id, _data, ctx) => limit(id, ctx), beforeDelete: limit, beforeRestore: limit, beforePurge: limit },
            },
            needs: { images: true },
            inCommit: () => [(db: BlogDatabase) => db.insert(tags as never).values({ id: ids++, name: 'log' } as never)],
          }),
        ],
      })
    })
    beforeEach(() => reset(blog, engineCase.dialect))
    afterAll(() => blog?.opened.close())

    it.each(WRITES.filter(([, [, path]]) => path.startsWith('posts')))(
      'also stops the statements of the plugin: %s',
      async (_name, request, met, unmet) => {
        const before = await dump(blog)
        condition = unmet
        expect(await send(blog, request)).toMatch(/^412 /)
        expect(await dump(blog)).toEqual(before)
        condition = met
        expect(await send(blog, request)).toBe('200')
        const written = (await dump(blog)).at(-1)!.length - before.at(-1)!.length
        expect(written).toBe(request[2] && Object.keys(request[2] as object).length === 0 ? 0 : 1)
      },
    )
  })
})
