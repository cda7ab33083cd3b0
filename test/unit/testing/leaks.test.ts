/** `expectNoLeaks`: an app without a leak, and mistakes that disclose rows, fields and values. */
import { describe, expect, it } from 'vitest'
import { expectNoLeaks, type LeakOptions } from '../../../src/runtime/testing'
import { openNewsroom, type Mistake } from './newsroom'

type Caller = 'anonymous' | 'reader' | 'author' | 'token'

const HIDDEN: LeakOptions<Caller> = {
  as: 'reader',
  rows: { posts: { ofEdgar: 3, otherTenant: 4, embargoed: 6 }, comments: [2, 3, 4], users: [4], postTags: [[1, 2]] },
  fields: { posts: ['margin'], users: ['salary', 'passwordHash'] },
  secrets: ['Draft of Edgar', 'Published elsewhere', 'Embargoed', 'flagged words', 'hash-anna', 52002, 11011],
}

const leaksOf = async (mistake?: Mistake, hidden: LeakOptions<Caller> = HIDDEN) => {
  const { api } = await openNewsroom(mistake)
  return await expectNoLeaks(api, hidden).then(() => '', (error: Error) => error.message)
}

describe('expectNoLeaks', () => {
  it('finds nothing in an app without mistakes', async () => {
    expect(await leaksOf(undefined, { ...HIDDEN, as: ['anonymous', 'reader', 'token'] })).toBe('')
  })

  it.each<[Mistake, string]>([
    ['listFilter is dropped', 'GET /postTags?include=post&limit=100 as reader: shows the row 3 of posts'],
    ['hiddenFields is dropped', 'GET /comments?include=post.author&limit=100 as reader: contains "hash-anna"'],
    ['the rule of a field is dropped', 'shows the field users.salary'],
    ['a hook copies a hidden value', 'GET /posts/1 as reader: contains 11011'],
    ['a plugin sends rows around the rules', 'GET /posts/archive as reader: shows the row 3 of posts'],
    ['the rows of a plugin are dropped', 'contains "Embargoed"'],
    ['the rows of a parent are not checked', 'shows the row 2 of comments'],
    ['objectLevel is dropped', 'contains "flagged words"'],
    ['the tenant column is forgotten', 'shows the row 4 of posts'],
    ['the rows of a junction are not filtered', 'shows the row 1, 2 of postTags'],
  ])('finds: %s', async (mistake, leak) => {
    expect(await leaksOf(mistake)).toContain(leak)
  })

  it.each<[Mistake, Partial<LeakOptions<Caller>>, string]>([
    [
      'a foreign key accepts hidden rows',
      {},
      'POST /comments as reader: discloses that the row 3 of posts exists: 201, but 400 INVALID_REFERENCE',
    ],
    [
      'an endpoint looks for the row first',
      {},
      'POST /posts/3/publish as reader: discloses that the row 3 of posts exists: 403 FORBIDDEN, but 404',
    ],
    [
      'a unique constraint forgets the tenant',
      { as: 'author' },
      'POST /posts as author: discloses that a row with {"title":"Published elsewhere"} exists: 409 CONFLICT',
    ],
  ])('finds a write that gives no access, but shows that something exists: %s', async (mistake, options, leak) => {
    const hidden = { as: 'reader', rows: { posts: [3] }, unique: { posts: { title: 'Published elsewhere' } }, ...options } as const
    expect(await leaksOf(undefined, hidden)).toBe('')
    expect(await leaksOf(mistake, hidden)).toContain(leak)
  })

  it('finds a child in a body that shows that a row exists', async () => {
    const hidden: LeakOptions<Caller> = { as: 'author', rows: { comments: [2, 4] } }
    expect(await leaksOf(undefined, hidden)).toBe('')
    expect(await leaksOf('a plugin looks for the child first', hidden))
      .toContain('as author: discloses that the row 2 of comments exists: 409, but 403 FORBIDDEN')
  })

  it('finds an upsert that shows that a row with its key exists', async () => {
    const hidden: LeakOptions<Caller> = { as: 'author', rows: { posts: [3, 4] } }
    expect(await leaksOf(undefined, hidden)).toBe('')
    expect(await leaksOf('a plugin looks for the key first', hidden))
      .toContain('POST /posts?onConflict=title as author: discloses that the row 4 of posts exists: 403, but a create is 201')
  })

  it('reads the routes about junction tables', async () => {
    const leaks = await leaksOf(undefined, { as: 'reader', secrets: ['post_tags'] })
    expect(leaks).toContain('GET /_m2m/junctions as reader: contains "post_tags"')
    expect(leaks).toContain('GET /_m2m/detect/posts as reader: contains "post_tags"')
  })

  it('finds a row that only counts', async () => {
    expect(await leaksOf('aggregate is public', { as: 'anonymous', rows: { users: [1] } }))
      .toMatch(/GET \/users\/aggregate\?aggregate=count&filter=\{"id":1\} as anonymous: discloses that the row 1 of users exists/)
  })

  it('finds a row that only counts as a related record', async () => {
    const hidden = { as: 'reader', rows: { postTags: [[1, 2]] } } as const
    expect(await leaksOf(undefined, hidden)).toBe('')
    expect(await leaksOf('a hook counts hidden rows', hidden))
      .toContain('GET /posts/1?counts=tags as reader: counts 2 rows, but the list of the relation has 1')
  })

  it('refuses a row that no caller sees, because it proves nothing', async () => {
    expect(await leaksOf(undefined, { as: 'reader', rows: { posts: [99] } })).toMatch(
      /No caller sees the row 99 of `posts`, so the test proves nothing/,
    )
  })

  it('refuses a secret that can be a part of other text', async () => {
    expect(await leaksOf(undefined, { as: 'reader', secrets: ['ab'] })).toBe(
      '[auto-api] The secret "ab" is too short: it can be a part of other text.',
    )
  })

  it('refuses an unknown resource', async () => {
    expect(await leaksOf(undefined, { as: 'reader', fields: { user: ['salary'] } })).toBe(
      '[auto-api] The API has no resource `user`. Did you mean `users`?',
    )
  })
})
