/**
 * On every engine: what another connection does between a request's check and its write, or while its commit waits for a
 * lock. The answer and all tables are those of one order or the other.
 */
import { sql, type Table } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ResourceHooks } from '../../src/runtime/server/registration'
import { openBlog, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { send, dump, reset, trashAssignments, type TestRequest } from './support/scene'

const HOOKS = ['beforeCreate', 'beforeUpdate', 'beforeDelete', 'beforeRestore', 'beforePurge', 'beforeLink'] as const

/** Changes of a row. `:trash` is replaced by assignments that soft-delete the row. */
const TENANT = 'set organization_id = 2'
const HIDDEN = `set title = 'hidden'`
const TRASHED = 'set :trash'
const BACK = 'set deleted_at = null, deletion_id = null'

const rename = (...ids: number[]) => ({ items: ids.map(id => ({ id, data: { title: `new ${id}` } })) })

/** If one of these changes happens to the row first, the request fails and writes nothing. */
const WRITES: [request: TestRequest, changes: readonly string[], row: number, answer: string][] = [
  [['PATCH', 'posts/1', { title: 'new' }], [TENANT, HIDDEN, TRASHED], 1, '404 NOT_FOUND'],
  [['DELETE', 'posts/1'], [TENANT, HIDDEN, TRASHED], 1, '404 NOT_FOUND'],
  [['DELETE', 'posts/1?force=true'], [TENANT, HIDDEN], 1, '404 NOT_FOUND'],
  [['POST', 'posts/4/restore'], [TENANT, HIDDEN, BACK], 4, '404 NOT_FOUND'],
  [['PATCH', 'posts/bulk', rename(1, 2, 3)], [TENANT, HIDDEN, TRASHED], 3, '404 BULK_FAILED'],
  [['DELETE', 'posts/bulk', { ids: [1, 2, 3] }], [TENANT, HIDDEN, TRASHED], 3, '404 BULK_FAILED'],
  [['DELETE', 'posts/bulk?force=true', { ids: [1, 3] }], [TENANT, HIDDEN], 3, '404 BULK_FAILED'],
  [['POST', 'posts/bulk/restore', { ids: [4, 5] }], [TENANT, HIDDEN, BACK], 5, '404 BULK_FAILED'],
  [['POST', 'posts/bulk/restore', { deletionId: 'd4' }], [TENANT, HIDDEN], 5, '404 NOT_FOUND'],
  [['DELETE', 'posts/bulk?force=true', { deletionId: 'd4' }], [TENANT, HIDDEN], 5, '404 NOT_FOUND'],
  // The client can send the request again for the remaining rows of the group.
  [['POST', 'posts/bulk/restore', { deletionId: 'd4' }], [BACK], 5, '409 CONFLICT'],
  [['DELETE', 'posts/bulk?force=true', { deletionId: 'd4' }], [BACK], 5, '409 CONFLICT'],
  [['POST', 'posts/1/relations/tags', { ids: [3] }], [TENANT, HIDDEN, TRASHED], 1, '404 NOT_FOUND'],
  [['PUT', 'posts/1/relations/tags', { ids: [3] }], [TENANT, HIDDEN, TRASHED], 1, '404 NOT_FOUND'],
  [['DELETE', 'posts/1/relations/tags', { ids: [1] }], [TENANT, HIDDEN, TRASHED], 1, '404 NOT_FOUND'],
  [['PUT', 'posts/1/relations', { relations: { tags: { ids: [] } } }], [TENANT, HIDDEN, TRASHED], 1, '404 NOT_FOUND'],
  [['POST', 'comments', { body: 'new', postId: 1 }], [TENANT, HIDDEN, TRASHED], 1, '400 INVALID_REFERENCE'],
  [
    [
      'POST',
      'comments/bulk',
      {
        items: [
          { body: 'a', postId: 2 },
          { body: 'b', postId: 1 },
        ],
      },
    ],
    [TENANT, HIDDEN, TRASHED],
    1,
    '400 BULK_FAILED',
  ],
  [['PATCH', 'comments/21', { postId: 1 }], [TENANT, HIDDEN, TRASHED], 1, '400 INVALID_REFERENCE'],
  [
    [
      'PATCH',
      'comments/bulk',
      {
        items: [
          { id: 11, data: { body: 'new' } },
          { id: 21, data: { postId: 1 } },
        ],
      },
    ],
    [TENANT, HIDDEN, TRASHED],
    1,
    '400 BULK_FAILED',
  ],
]
const CASES = WRITES.flatMap(([request, changes, row, answer]) => changes.map(change => [request, change, row, answer] as const))

/**
 * A row that `objectLevel` checked and that changes before the commit is checked once more. The answers are those to a row that it refuses
 * then.
 */
const CHECKED_BY_CODE: [request: TestRequest, answer: string][] = [
  [['PATCH', 'posts/1', { title: 'new' }], '404 NOT_FOUND'],
  [['DELETE', 'posts/1'], '404 NOT_FOUND'],
  [['DELETE', 'posts/1?force=true'], '404 NOT_FOUND'],
  [['PATCH', 'posts/bulk', rename(1, 2)], '404 BULK_FAILED'],
  [['POST', 'posts/1/relations/tags', { ids: [3] }], '404 NOT_FOUND'],
]

/** Waits until a request sends no more statements: its last one waits for a lock. One that waits with its first sends none at all. */
async function untilQuiet({ opened }: Blog): Promise<void> {
  let [sent, quiet] = [0, 0]
  while (quiet < (sent > 0 ? 3 : 8)) {
    await new Promise(resolve => setTimeout(resolve, 10))
    const count = opened.statements().length
    sent += count
    quiet = count === 0 ? quiet + 1 : 0
  }
}

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('what another connection does', () => {
    const { dialect } = engineCase
    let blog: Blog
    let checked: Blog
    let meanwhile: (() => Promise<unknown>) | undefined
    const runMeanwhile = async () => {
      const run = meanwhile
      meanwhile = undefined
      await run?.()
    }

    beforeAll(async () => {
      const hooks = Object.fromEntries(HOOKS.map(name => [name, runMeanwhile])) as ResourceHooks
      const listFilter = (table: Table) => sql`${(table as unknown as Record<string, never>).title} <> 'hidden'`
      blog = await openBlog(engineCase, { hooks: { posts: hooks, comments: hooks }, rules: { posts: { listFilter } } })
      checked = await openBlog(engineCase, { rules: { posts: { objectLevel: async (row: { title?: unknown }) => {
        const accepted = row.title !== 'closed'
        await runMeanwhile()
        return accepted
      } } } })
    })
    beforeEach(async () => {
      meanwhile = undefined
      await reset(blog, dialect)
      await reset(checked, dialect)
    })
    afterAll(async () => {
      await blog?.opened.close()
      await checked?.opened.close()
    })

    const toSql = (change: string, row: number) =>
      `update posts ${change.replace(':trash', trashAssignments(dialect, 'other'))} where id = ${row}`

    it.each(CASES)('between check and write: %j, %s of post %i', async (request, change, row, answer) => {
      let after: unknown
      meanwhile = async () => {
        await blog.opened.exec(toSql(change, row))
        after = await dump(blog)
      }
      expect(await send(blog, request)).toBe(answer)
      expect(await dump(blog)).toEqual(after)
    })

    it.each(CHECKED_BY_CODE)('while `objectLevel` checks the row: %j', async (request, answer) => {
      let after: unknown
      meanwhile = async () => {
        await checked.opened.exec(`update posts set title = 'closed' where id = 1`)
        after = await dump(checked)
      }
      expect(await send(checked, request)).toBe(answer)
      expect(await dump(checked)).toEqual(after)
    })

    it.each(WRITES)('while `objectLevel` checks a row that it accepts afterwards too: %j', async (request, _changes, row) => {
      meanwhile = () => checked.opened.exec(toSql(`set title = 'changed'`, row))
      expect([await send(checked, request), meanwhile]).toEqual([expect.stringMatching(/^20[01]$/), undefined])
    })

    if (engineCase.pooled) describe('and has not committed yet', () => {
      /** Sent while the other transaction is open, and ended by it. */
      async function during(request: TestRequest, sql: string, end: 'commit' | 'rollback'): Promise<string> {
        const endTransaction = await blog.opened.openTransaction(sql)
        blog.opened.statements()
        let answered = false
        const answer = send(blog, request).finally(() => {
          answered = true
        })
        await untilQuiet(blog)
        expect(answered).toBe(false)
        await endTransaction(end)
        return answer
      }

      it.each(CASES)('%j waits for its commit and is refused: %s of post %i', async (request, change, row, answer) => {
        await blog.opened.exec(toSql(change, row))
        const after = await dump(blog)
        await reset(blog, dialect)
        expect(await during(request, toSql(change, row), 'commit')).toBe(answer)
        expect(await dump(blog)).toEqual(after)
      })

      it.each(CASES)('%j waits for it and succeeds after its rollback: %s of post %i', async (request, change, row) => {
        expect(await during(request, toSql(change, row), 'rollback')).toMatch(/^20[01]$/)
      })
    })
  })
})
