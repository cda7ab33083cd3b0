/** Two servers of an app: the streams of one receive the signals about the commits of the other. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { live } from '../../../src/runtime/plugins'
import type { World } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'
import { createFakeRedis, type FakeClient, type FakeRedis } from './fake-redis'
import { EDITOR, listen, openFeed, OTHER, READER, sleep, type Listener } from './feed'

const SECRET = 'one secret of all servers'

let redis: FakeRedis
let one: World
let two: World
let client: FakeClient
const open: Listener[] = []

beforeEach(async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  redis = createFakeRedis()
  one = await openFeed({ channel: { redis: redis.client() } }, { secret: SECRET })
  client = redis.client()
  two = await openFeed({ channel: { redis: client } }, { secret: SECRET, client: one.client })
  // Each introduces itself, and answers the other.
  for (let heard = -1; heard !== redis.texts.length;) {
    heard = redis.texts.length
    await sleep(300)
  }
})
afterEach(() => {
  for (const listener of open.splice(0)) listener.close()
  vi.restoreAllMocks()
})

const follow = async (world: World, resources: string, caller: Caller) => {
  const listener = await listen(world, resources, caller)
  open.push(listener)
  await listener.waitFor('open')
  return listener
}

describe('a stream of another server', () => {
  it('receives a signal about each record that the caller can read, or could read before, and no other', async () => {
    const [editor, reader, other] = [await follow(two, 'posts', EDITOR), await follow(two, 'posts', READER), await follow(two, 'posts', OTHER)]
    const all = [editor, reader, other]
    const signals = (...least: number[]) => Promise.all(all.map((listener, index) => listener.signals(least[index])))
    const { body } = await one.send('POST', 'posts', { title: 'New', team: 1, published: true, at: '2026-01-01T00:00:00Z' }, EDITOR)
    expect(await signals(1, 1, 0)).toEqual([[`changed posts ${body.id}`], [`changed posts ${body.id}`], []])
    await one.send('PATCH', 'posts/1', { published: false }, EDITOR)
    expect(await signals(1, 1, 0)).toEqual([['changed posts 1'], ['gone posts 1'], []])
    await one.send('PATCH', 'posts/1', { note: 'internal' }, EDITOR)
    expect(await signals(1, 0, 0)).toEqual([['changed posts 1'], [], []])
    await one.send('PATCH', 'posts/1', { team: 2, published: true }, EDITOR)
    expect(await signals(1, 0, 1)).toEqual([['gone posts 1'], [], ['changed posts 1']])
    await one.send('DELETE', `posts/${body.id}`, undefined, EDITOR)
    expect(await signals(1, 1, 0)).toEqual([[`gone posts ${body.id}`], [`gone posts ${body.id}`], []])
  })

  it('receives signals about links', async () => {
    const reader = await follow(two, 'posts,tags', READER)
    await one.send('POST', 'posts/1/relations/tags', { ids: ['a'] }, EDITOR)
    expect(await reader.signals(2)).toEqual(['changed posts 1', 'changed tags a'])
  })

  it('receives one signal about a commit of its own server', async () => {
    const reader = await follow(two, 'posts', READER)
    await follow(one, 'posts', READER)
    await two.send('PATCH', 'posts/1', { title: 'Other' }, EDITOR)
    expect(await reader.signals(1)).toEqual(['changed posts 1'])
  })

  it('learns that a row is gone although the commits of two servers arrive in another order', async () => {
    const reader = await follow(two, 'posts', READER)
    const late: string[] = []
    redis.deliver = (text) => {
      late.push(text)
      return []
    }
    await one.send('PATCH', 'posts/1', { published: false }, EDITOR)
    await sleep(20)
    redis.deliver = text => [text]
    // The row is invisible before and after this commit.
    await two.send('PATCH', 'posts/1', { title: 'Hidden' }, EDITOR)
    redis.deliver = text => [...late.splice(0), text]
    await redis.client().publish([...redis.channels][0]!, '')
    expect(await reader.signals(1)).toEqual(['gone posts 1'])
  })

  it('receives a reset instead of signals about rows that are too large to be sent', async () => {
    const reader = await follow(two, 'posts', READER)
    await one.send('PATCH', 'posts/1', { title: 'x'.repeat(100_000) }, EDITOR)
    expect(await reader.signals(1)).toEqual(['changed posts 1'])
    await one.send('PATCH', 'posts/1', { title: 'y'.repeat(500_000) }, EDITOR)
    expect(await reader.signals(1)).toEqual(['reset'])
  })
})

it('sends no name and no value that others on the channel can read', async () => {
  await follow(two, 'posts', READER)
  await one.send('PATCH', 'posts/1', { title: 'A title that nobody else reads' }, EDITOR)
  await sleep(50)
  const sent = redis.texts.flatMap(text => [text, Buffer.from(text.split('.').at(-1)!, 'base64url').toString('latin1')]).join('\n')
  expect(redis.texts.length).toBeGreaterThan(3)
  expect(sent).not.toMatch(/posts|title|nobody/)
})

describe('a stream is reset', () => {
  it('when its server is connected again, and when the other one has written meanwhile', async () => {
    const [here, there] = [await follow(two, 'posts', READER), await follow(one, 'posts', READER)]
    client.cut()
    await one.send('PATCH', 'posts/1', { title: 'Missed' }, EDITOR)
    await two.send('PATCH', 'posts/1', { title: 'Not reported' }, EDITOR)
    expect([await here.signals(1), await there.signals(1)]).toEqual([['changed posts 1'], ['changed posts 1']])
    client.mend()
    await here.waitFor('reset')
    await there.waitFor('reset')
    await one.send('PATCH', 'posts/1', { title: 'Reported' }, EDITOR)
    expect((await here.signals()).at(-1)).toBe('reset')
    expect(here.events.some(({ event }, index) => event === 'changed' && index > here.events.findIndex(({ event }) => event === 'reset')))
      .toBe(true)
  })

  it('when a message has not arrived', async () => {
    const reader = await follow(two, 'posts', READER)
    redis.deliver = () => []
    await one.send('PATCH', 'posts/1', { title: 'Lost' }, EDITOR)
    await sleep(20)
    redis.deliver = text => [text]
    await one.send('PATCH', 'comments/1', { text: 'Arrives' }, EDITOR)
    expect(await reader.signals(1)).toEqual(['reset'])
  })
})

describe('servers of which some have a new secret', () => {
  const NEW = 'the next secret of all servers, for 32'

  /** Opens a third server on the same channel and database, and waits until all servers know each other. */
  const join = async (secret: string, previousSecret?: string) => {
    const world = await openFeed({ channel: { redis: redis.client() } }, { secret, previousSecret, client: one.client })
    for (let known = -1; known !== redis.texts.length;) {
      known = redis.texts.length
      await sleep(300)
    }
    return world
  }
  const changeAt = async (world: World, title: string, listener: Listener) => {
    await world.send('PATCH', 'posts/1', { title }, EDITOR)
    return listener.signals()
  }
  /** The signals of a listener that gets some, on a busy machine too. */
  const received = async (signals: readonly string[], listener: Listener): Promise<readonly string[]> => {
    let found = signals
    for (let tries = 0; tries < 20 && found.length === 0; tries++) found = await listener.signals()
    return found
  }

  it('receive the commits of each other if each of them accepts both', async () => {
    const [before, after] = [await join(SECRET, NEW), await join(NEW, SECRET)]
    const [there, here] = [await follow(before, 'posts', READER), await follow(after, 'posts', READER)]
    await Promise.all([there.signals(), here.signals()])
    expect(await received(await changeAt(after, 'By the new one', there), there)).toEqual(['changed posts 1'])
    expect(await received([], here)).toEqual(['changed posts 1'])
    expect(await received(await changeAt(before, 'By the old one', here), here)).toEqual(['changed posts 1'])
    expect(await received([], there)).toEqual(['changed posts 1'])
  })

  it('receive those of servers with the old secret, which receive nothing from them', async () => {
    const after = await join(NEW, SECRET)
    const [there, here] = [await follow(one, 'posts', READER), await follow(after, 'posts', READER)]
    await Promise.all([there.signals(), here.signals()])
    expect(await received(await changeAt(one, 'By the old one', here), here)).toEqual(['changed posts 1'])
    await there.signals()
    const [unseen, seen] = [await changeAt(after, 'By the new one', there), await received([], here)]
    expect([unseen, seen]).toEqual([[], ['changed posts 1']])
  })

  it('receive nothing from each other without the previous secret', async () => {
    const after = await join(NEW)
    const here = await follow(after, 'posts', READER)
    await here.signals()
    expect(await changeAt(one, 'By the old one', here)).toEqual([])
  })
})

describe('a server does not start', () => {
  const start = (channel: never, secret?: string) => openFeed({ channel }, { secret }).then(world => world.request('GET', '/api/posts', { caller: READER }))

  it.each([
    ['without a secret', 'postgres', undefined, /requires a secret/],
    ['with a storage that does not exist', { redis: 'nope' }, SECRET, /storage `nope` is not configured/],
  ])('%s', async (_, channel, secret, message) => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status, text } = await start(channel as never, secret)
    expect(status).toBe(500)
    expect([text, ...error.mock.calls.flat().map(String)].join('\n')).toMatch(message)
  })

  it('with the example of the docs, without a secret', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status } = await openFeed({}, { plugins: [async () => (await import('./examples/live')).default] })
      .then(world => world.request('GET', '/api/posts', { caller: READER }))
    expect(status).toBe(500)
  })

  it.each([[{ redis: '' }], ['mysql'], [{ redis: {} }], [{ redis: 'a', more: 1 }]])('with a channel that is none: %j', (channel) => {
    expect(() => live({ channel: channel as never })).toThrow(/`live.channel` is .* Use `'memory'`, `'postgres'` or `\{ redis \}`/)
  })
})
