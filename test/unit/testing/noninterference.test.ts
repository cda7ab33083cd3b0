/** `expectNoninterference`: an app without a leak, and mistakes that make responses depend on what the caller cannot see. */
import { describe, expect, it } from 'vitest'
import {
  createTestApi, expectNoninterference, type NoninterferenceOptions, type NoninterferenceRequest,
} from '../../../src/runtime/testing'
import { defineAutoApiPlugin } from '../../../src/runtime/server/define'
import { byTier } from '../../support/tiers'
import { openNewsroom, type Mistake } from './newsroom'
import { plant, PLANTED } from './noninterference-mistakes'

type Caller = 'anonymous' | 'reader' | 'author' | 'stranger' | 'token'

/** `RUNS=10000` and `SEED=…` look longer, and repeat a run. */
const RUNS = Number(process.env.RUNS ?? byTier({ push: 250, full: 2000, release: 10_000 }))
const SEED = process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }
const BUDGET = byTier({ push: 8_000, full: 120_000, release: 600_000 })

describe('expectNoninterference', () => {
  it.each<Caller>(['anonymous', 'reader', 'author', 'token'])('finds nothing in an app without mistakes: %s', async (caller) => {
    const { api, client } = await openNewsroom()
    const dump = () => ['users', 'posts', 'comments', 'tags', 'post_tags', 'api_tokens'].map(table =>
      client.prepare(`select * from ${table}`).all().map(row => JSON.stringify(row)).sort())
    const before = dump()
    const { requests, changes, seed } = await expectNoninterference(api, { as: caller, runs: RUNS, budget: BUDGET, ...SEED })
    console.info(`${caller}: ${requests} requests, ${changes} changes, seed ${seed}`)
    expect(requests).toBeGreaterThan(50)
    expect(changes).toBeGreaterThan(10)
    expect(dump()).toEqual(before)
  }, 60_000 + BUDGET)

  it('repeats a run with its seed', async () => {
    const { api } = await openNewsroom()
    const run = () => expectNoninterference(api, { as: 'reader', runs: 30, seed: 7 })
    expect(await run()).toEqual(await run())
  })

  it('compares two worlds of the test', async () => {
    const { api, client, reset } = await openNewsroom(undefined, { posts: PLANTED['a computed field counts every row']!.posts! })
    const more = (statement: string) => () => {
      reset()
      client.exec(statement)
    }
    const compare = (statement: string) => expectNoninterference(api, { as: 'reader', worlds: [reset, more(statement)], runs: 60, seed: 3 })
    await expect(compare('update posts set title = \'Other\' where id = 4')).resolves.toMatchObject({ requests: 60, changes: 0 })
    await expect(compare('insert into comments (organization_id, post_id, body) values (2, 4, \'more\')'))
      .rejects.toThrow(/on what reader cannot see/)
    await expect(compare('update posts set title = \'Other\' where id = 1'))
      .rejects.toThrow('[auto-api] The two worlds are not equal for reader, so the test proves nothing: posts 1.')
  })

  it('sends no ignored request', async () => {
    const sent: string[] = []
    const { api } = await openNewsroom()
    const isIgnored = ({ method, path }: NoninterferenceRequest) => {
      sent.push(method)
      return method !== 'GET' || !path.startsWith('/tags')
    }
    const { requests } = await expectNoninterference(api, { as: 'reader', runs: 20, seed: 5, ignore: isIgnored })
    expect([requests, sent.includes('POST')]).toEqual([20, true])
  })

  it('says so if what the caller sees changes without a change of the test', async () => {
    let turns = 0
    const changing = defineAutoApiPlugin({ name: 'turns', extendContext: ctx => void (ctx.permissions = [`turn ${++turns}`]) })
    const { api } = await openNewsroom(undefined, { plugins: () => [changing] })
    await expect(expectNoninterference(api, { as: 'reader', runs: 10 })).rejects
      .toThrow('[auto-api] What reader sees has changed during the test: caller.')
  })

  it('refuses an API in another process', async () => {
    const api = await createTestApi({ url: 'http://127.0.0.1:1' })
    await expect(expectNoninterference(api, { as: 'anonymous' })).rejects.toThrow('expectNoninterference() needs an API in this process')
  })

  const messageOf = async (
    mistake?: Mistake, more?: Parameters<typeof openNewsroom>[1], options: Partial<NoninterferenceOptions<Caller>> = {},
  ) => {
    const { api } = await openNewsroom(mistake, more)
    return await expectNoninterference(api, { as: 'reader', runs: 1500, seed: 1, budget: 60_000, ...options })
      .then(() => '', (error: Error) => error.message)
  }

  it.each(Object.entries(PLANTED))('finds: %s', async (_, planted) => {
    const more = { plugins: plant(planted), ...planted.posts && { posts: planted.posts } }
    const message = await messageOf(undefined, more, { ignore: ({ path }) => !planted.only.test(path) })
    expect(message).toMatch(planted.found)
  }, 120_000)

  it.each<[Mistake, Caller, RegExp]>([
    ['a foreign key accepts hidden rows', 'reader', /POST \/comments.* as reader: the status differs after `posts \d+: (?:inserted|deleted)`/],
    ['a plugin looks for the key first', 'author', /POST \/posts\?.*onConflict=title.* as author: the status differs after `posts /],
    ['a plugin looks for the child first', 'author', /PATCH \/posts\/\d.*"delete".* as author: the (?:status|body) differs after `comments /],
  ])('finds a mistake of expectNoLeaks without the ids of hidden rows: %s', async (mistake, caller, found) => {
    expect(await messageOf(mistake, {}, { as: caller, ignore: ({ method }) => method === 'GET' })).toMatch(found)
  }, 120_000)
})
