/** On every server engine: a row gets, leaves or has a parent while another transaction deletes, restores or purges the parent. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBlog, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { ask, picture, reset, trashed, type Asked } from './support/scene'

/** As the API does it: what the new row points at is kept as it is until the commit. */
const UNDER_POST = `select id from posts where id = 1 and deleted_at is null for share; insert into comments (id, organization_id, post_id, body) values (900, 1, 1, 'late')`
const UNDER_COMMENT = `select id from comments where id = 111 and deleted_at is null for share; insert into comments (id, organization_id, parent_id, body) values (900, 1, 111, 'late')`
const LEAVES = `update comments set post_id = 2 where id = 11`
const JOINS = `select id from posts where id = 1 for share; update comments set post_id = 1 where id = 21`

interface Case {
  readonly what: string
  readonly asked: Asked
  /** What the other transaction does; `:trash(name)` stands for the columns of the trash. */
  readonly other: string
  readonly answer: string
}

/** The request waits for the other transaction, then does what it would have done after it. */
const CASES: Case[] = [
  { what: 'a comment comes under a post that goes to the trash', asked: ['DELETE', 'posts/1'], other: UNDER_POST, answer: '200' },
  { what: 'a comment comes under a post that goes for good', asked: ['DELETE', 'posts/1?force=true'], other: UNDER_POST, answer: '200' },
  { what: 'a comment comes under a post of a batch that goes to the trash', asked: ['DELETE', 'posts/bulk', { ids: [2, 1] }], other: UNDER_POST, answer: '200' },
  { what: 'a reply comes under a reply of a post that goes to the trash', asked: ['DELETE', 'posts/1'], other: UNDER_COMMENT, answer: '200' },
  { what: 'a reply comes under a reply of a comment that goes to the trash', asked: ['DELETE', 'comments/11'], other: UNDER_COMMENT, answer: '200' },
  { what: 'a reply comes under a reply of a post that goes for good', asked: ['DELETE', 'posts/1?force=true'], other: UNDER_COMMENT, answer: '200' },
  { what: 'a comment leaves a post that goes to the trash', asked: ['DELETE', 'posts/1'], other: LEAVES, answer: '200' },
  { what: 'a comment leaves a post that goes for good', asked: ['DELETE', 'posts/1?force=true'], other: LEAVES, answer: '200' },
  { what: 'a reply leaves a comment that goes to the trash', asked: ['DELETE', 'comments/11'], other: `update comments set parent_id = 21 where id = 111`, answer: '200' },
  { what: 'a reply leaves a comment that goes for good', asked: ['DELETE', 'comments/11?force=true'], other: `update comments set parent_id = 21 where id = 111`, answer: '200' },
  { what: 'a reply leaves a post that goes to the trash', asked: ['DELETE', 'posts/1'], other: `update comments set parent_id = 21 where id = 111`, answer: '200' },
  { what: 'a comment joins a post that goes to the trash', asked: ['DELETE', 'posts/1'], other: JOINS, answer: '200' },
  { what: 'a comment joins a post that goes for good', asked: ['DELETE', 'posts/1?force=true'], other: JOINS, answer: '200' },
  { what: 'a comment goes to the trash by itself before its post', asked: ['DELETE', 'posts/1'], other: `update comments set :trash(own) where id in (11, 111)`, answer: '200' },
  { what: 'a comment comes back by itself before its post', asked: ['POST', 'posts/4/restore'], other: `update comments set deleted_at = null, deletion_id = null where id in (41, 411)`, answer: '200' },
  { what: 'a comment goes to the trash once more before its post comes back', asked: ['POST', 'posts/4/restore'], other: `update comments set :trash(own) where id in (41, 411)`, answer: '200' },
  { what: 'a comment comes back and leaves before its post comes back', asked: ['POST', 'posts/4/restore'], other: `update comments set deleted_at = null, deletion_id = null, post_id = 2 where id = 41`, answer: '200' },
  { what: 'a comment comes back and leaves before its post goes for good', asked: ['DELETE', 'posts/4?force=true'], other: `update comments set deleted_at = null, deletion_id = null, post_id = 2 where id in (41)`, answer: '200' },
  { what: 'a comment goes for good before its post goes to the trash', asked: ['DELETE', 'posts/1'], other: `delete from comments where id = 111; delete from comments where id = 11`, answer: '200' },
  { what: 'a comment is written under a post that went to the trash', asked: ['POST', 'comments', { body: 'late', postId: 1 }], other: `update posts set :trash(own) where id = 1; update comments set :trash(own) where id in (11, 12, 111)`, answer: '400 INVALID_REFERENCE' },
  { what: 'a reply is written under a comment that went to the trash with its post', asked: ['POST', 'comments', { body: 'late', parentId: 111 }], other: `update posts set :trash(own) where id = 1; update comments set :trash(own) where id in (11, 12, 111)`, answer: '400 INVALID_REFERENCE' },
  { what: 'a comment joins a post that went for good', asked: ['PATCH', 'comments/21', { postId: 3 }], other: `delete from posts where id = 3`, answer: '400 INVALID_REFERENCE' },
  { what: 'a comment that went to the trash with its post is written', asked: ['PATCH', 'comments/11', { body: 'late' }], other: `update posts set :trash(own) where id = 1; update comments set :trash(own) where id in (11, 12, 111)`, answer: '404 NOT_FOUND' },
  { what: 'a post whose links go is linked', asked: ['POST', 'posts/1/relations/tags', { ids: [1, 3] }], other: `select id from posts where id = 1 for update; delete from post_tags`, answer: '200' },
  { what: 'a post whose links come is linked', asked: ['PUT', 'posts/1/relations/tags', { ids: [3] }], other: `select id from posts where id = 1 for update; insert into post_tags values (1, 4)`, answer: '200' },
  { what: 'a post with new links goes for good', asked: ['DELETE', 'posts/1?force=true'], other: `select id from posts where id = 1 for update; insert into post_tags values (1, 4)`, answer: '200' },
]

describe.each(ENGINE_CASES.filter(({ service }) => service !== undefined))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('while another transaction is not committed', () => {
    const { dialect } = engineCase
    let blog: Blog

    beforeAll(async () => {
      blog = await openBlog(engineCase)
    })
    beforeEach(() => reset(blog, dialect))
    afterAll(() => blog?.opened.close())

    const toSql = (text: string) => text.replace(/:trash\((\w+)\)/g, (_, group: string) => trashed(dialect, group))
      // As MariaDB spells it.
      .replaceAll('for share', dialect === 'mysql' ? 'lock in share mode' : 'for share')

    it.each(CASES)('has the result of running one after the other: $what', async ({ asked, other, answer }) => {
      await blog.opened.exec(`${toSql(other)}`)
      expect(await ask(blog, asked)).toBe(answer)
      const expected = await picture(blog)
      await reset(blog, dialect)
      const letGo = await blog.opened.hold(toSql(other))
      let answered = false
      const waiting = ask(blog, asked).finally(() => {
        answered = true
      })
      await new Promise(resolve => setTimeout(resolve, 50))
      expect(answered).toBe(false)
      await letGo('commit')
      expect(await waiting).toBe(answer)
      expect(await picture(blog)).toEqual(expected)
    })
  })
})
