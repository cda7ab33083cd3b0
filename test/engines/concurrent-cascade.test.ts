/**
 * Tests on every database server: one transaction inserts, moves, deletes or restores dependents, and at the same time a request
 * deletes, restores, purges or references their parent.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBlog, type Blog } from './support/blog'
import { CONNECTION_CASES, isAvailable } from './support/databases'
import { send, snapshot, reset, trashAssignments, type TestRequest } from './support/scene'

/** These transactions lock the referenced row until they commit, as the API does. */
const INSERT_COMMENT = `select id from posts where id = 1 and deleted_at is null for share; insert into comments (id, organization_id, post_id, body) values (900, 1, 1, 'late')`
const INSERT_REPLY = `select id from comments where id = 111 and deleted_at is null for share; insert into comments (id, organization_id, parent_id, body) values (900, 1, 111, 'late')`
const MOVE_COMMENT_AWAY = `update comments set post_id = 2 where id = 11`
const MOVE_COMMENT_HERE = `select id from posts where id = 1 for share; update comments set post_id = 1 where id = 21`

interface Case {
  readonly title: string
  readonly request: TestRequest
  /** The SQL of the other transaction. `:trash(name)` is replaced by assignments to the trash columns. */
  readonly other: string
  /** The result of {@link send}. */
  readonly expected: string
}

/** The request waits for the other transaction. Its result is the same as when it starts after that transaction. */
const CASES: Case[] = [
  {
    title: 'a comment is inserted on a post that the request deletes',
    request: ['DELETE', 'posts/1'],
    other: INSERT_COMMENT,
    expected: '200',
  },
  {
    title: 'a comment is inserted on a post that the request purges',
    request: ['DELETE', 'posts/1?force=true'],
    other: INSERT_COMMENT,
    expected: '200',
  },
  {
    title: 'a comment is inserted on a post that a bulk request deletes',
    request: ['DELETE', 'posts/bulk', { ids: [2, 1] }],
    other: INSERT_COMMENT,
    expected: '200',
  },
  {
    title: 'a reply is inserted under a reply of a post that the request deletes',
    request: ['DELETE', 'posts/1'],
    other: INSERT_REPLY,
    expected: '200',
  },
  {
    title: 'a reply is inserted under a reply of a comment that the request deletes',
    request: ['DELETE', 'comments/11'],
    other: INSERT_REPLY,
    expected: '200',
  },
  {
    title: 'a reply is inserted under a reply of a post that the request purges',
    request: ['DELETE', 'posts/1?force=true'],
    other: INSERT_REPLY,
    expected: '200',
  },
  {
    title: 'a comment is moved away from a post that the request deletes',
    request: ['DELETE', 'posts/1'],
    other: MOVE_COMMENT_AWAY,
    expected: '200',
  },
  {
    title: 'a comment is moved away from a post that the request purges',
    request: ['DELETE', 'posts/1?force=true'],
    other: MOVE_COMMENT_AWAY,
    expected: '200',
  },
  {
    title: 'a reply is moved away from a comment that the request deletes',
    request: ['DELETE', 'comments/11'],
    other: `update comments set parent_id = 21 where id = 111`,
    expected: '200',
  },
  {
    title: 'a reply is moved away from a comment that the request purges',
    request: ['DELETE', 'comments/11?force=true'],
    other: `update comments set parent_id = 21 where id = 111`,
    expected: '200',
  },
  {
    title: 'a reply is moved away from a post that the request deletes',
    request: ['DELETE', 'posts/1'],
    other: `update comments set parent_id = 21 where id = 111`,
    expected: '200',
  },
  {
    title: 'a comment is moved to a post that the request deletes',
    request: ['DELETE', 'posts/1'],
    other: MOVE_COMMENT_HERE,
    expected: '200',
  },
  {
    title: 'a comment is moved to a post that the request purges',
    request: ['DELETE', 'posts/1?force=true'],
    other: MOVE_COMMENT_HERE,
    expected: '200',
  },
  {
    title: 'a comment is deleted before the request deletes its post',
    request: ['DELETE', 'posts/1'],
    other: `update comments set :trash(own) where id in (11, 111)`,
    expected: '200',
  },
  {
    title: 'a comment is restored before the request restores its post',
    request: ['POST', 'posts/4/restore'],
    other: `update comments set deleted_at = null, deletion_id = null where id in (41, 411)`,
    expected: '200',
  },
  {
    title: 'a comment is deleted again before the request restores its post',
    request: ['POST', 'posts/4/restore'],
    other: `update comments set :trash(own) where id in (41, 411)`,
    expected: '200',
  },
  {
    title: 'a comment is restored and moved away before the request restores its post',
    request: ['POST', 'posts/4/restore'],
    other: `update comments set deleted_at = null, deletion_id = null, post_id = 2 where id = 41`,
    expected: '200',
  },
  {
    title: 'a comment is restored and moved away before the request purges its post',
    request: ['DELETE', 'posts/4?force=true'],
    other: `update comments set deleted_at = null, deletion_id = null, post_id = 2 where id in (41)`,
    expected: '200',
  },
  {
    title: 'a comment is purged before the request deletes its post',
    request: ['DELETE', 'posts/1'],
    other: `delete from comments where id = 111; delete from comments where id = 11`,
    expected: '200',
  },
  {
    title: 'a post is deleted before the request creates a comment on it',
    request: ['POST', 'comments', { body: 'late', postId: 1 }],
    other: `update posts set :trash(own) where id = 1; update comments set :trash(own) where id in (11, 12, 111)`,
    expected: '400 INVALID_REFERENCE',
  },
  {
    title: 'a comment is deleted with its post before the request creates a reply to it',
    request: ['POST', 'comments', { body: 'late', parentId: 111 }],
    other: `update posts set :trash(own) where id = 1; update comments set :trash(own) where id in (11, 12, 111)`,
    expected: '400 INVALID_REFERENCE',
  },
  {
    title: 'a post is purged before the request moves a comment to it',
    request: ['PATCH', 'comments/21', { postId: 3 }],
    other: `delete from posts where id = 3`,
    expected: '400 INVALID_REFERENCE',
  },
  {
    title: 'a comment is deleted with its post before the request updates it',
    request: ['PATCH', 'comments/11', { body: 'late' }],
    other: `update posts set :trash(own) where id = 1; update comments set :trash(own) where id in (11, 12, 111)`,
    expected: '404 NOT_FOUND',
  },
  {
    title: 'the links of a post are removed before the request links it',
    request: ['POST', 'posts/1/relations/tags', { ids: [1, 3] }],
    other: `select id from posts where id = 1 for update; delete from post_tags`,
    expected: '200',
  },
  {
    title: 'a link of a post is added before the request replaces its links',
    request: ['PUT', 'posts/1/relations/tags', { ids: [3] }],
    other: `select id from posts where id = 1 for update; insert into post_tags values (1, 4)`,
    expected: '200',
  },
  {
    title: 'a link of a post is added before the request purges it',
    request: ['DELETE', 'posts/1?force=true'],
    other: `select id from posts where id = 1 for update; insert into post_tags values (1, 4)`,
    expected: '200',
  },
]

/** Vitest shortens `$title` in its report, but not `%s`. */
const TITLED_CASES = CASES.map(testCase => [testCase.title, testCase] as const)

describe.each(CONNECTION_CASES.filter(({ service }) => service !== undefined))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('while another transaction is not committed', () => {
    const { dialect } = engineCase
    let blog: Blog

    beforeAll(async () => {
      blog = await openBlog(engineCase)
    })
    beforeEach(() => reset(blog, dialect))
    afterAll(() => blog?.opened.close())

    const toSql = (text: string) => text.replace(/:trash\((\w+)\)/g, (_, group: string) => trashAssignments(dialect, group))
      // The syntax that MariaDB accepts too.
      .replaceAll('for share', dialect === 'mysql' ? 'lock in share mode' : 'for share')

    it.each(TITLED_CASES)('has the same result as running both one after the other: %s', async (_title, { request, other, expected }) => {
      await blog.opened.exec(`${toSql(other)}`)
      expect(await send(blog, request)).toBe(expected)
      const rows = await snapshot(blog)
      await reset(blog, dialect)
      const endTransaction = await blog.opened.openTransaction(toSql(other))
      let answered = false
      const waiting = send(blog, request).finally(() => {
        answered = true
      })
      await new Promise(resolve => setTimeout(resolve, 50))
      expect(answered).toBe(false)
      await endTransaction('commit')
      expect(await waiting).toBe(expected)
      expect(await snapshot(blog)).toEqual(rows)
    })
  })
})
