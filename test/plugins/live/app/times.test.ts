/** When a page refetches and reconnects, on a clock of the test. */
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { TIMING } from '../../../../src/runtime/plugins/live/app/timing'
import { openWorld, type Tab, type World } from './browser'
import { startClock, type Clock } from './clock'
import { createFakeServer, errorOf, eventOf, type FakeServer } from './fake-server'

let api: FakeServer
let world: World
let clock: Clock
let tab: Tab
let isDown = false
/** The requests while the server was down. */
let attempts = 0

beforeAll(async () => {
  world = await openWorld({
    handle(request) {
      if (!isDown) return api.handle(request)
      attempts++
      return Promise.reject(new TypeError('fetch failed'))
    },
  })
})
beforeEach(async () => {
  clock = startClock()
  api = createFakeServer()
  api.write('posts', 1, { title: 'Old' })
  isDown = false
  tab = world.openTab({ timing: TIMING })
})
afterEach(() => {
  world.close()
  clock.restore()
})

const list = (query: object = {}) => tab.mount(() => tab.composables.useAutoApiList!('posts', query, { live: true })) as {
  data: { value?: { data: { title: string }[] } }
}
const title = ({ data }: ReturnType<typeof list>) => data.value?.data[0]?.title
const count = () => api.requests.filter(request => request === 'GET /api/posts').length
/** Lets a live list open its stream. */
async function open() {
  const posts = list()
  await clock.advance(1_000)
  expect(api.streams.size).toBe(1)
  return posts
}

it('refetches at most once in 250 ms because of one resource, and shows the last change', async () => {
  const posts = await open()
  const before = count()
  for (let at = 0; at < 200; at++) {
    api.write('posts', 1, { title: `Change ${at}` })
    await clock.advance(10)
  }
  await clock.advance(250)
  expect(title(posts)).toBe('Change 199')
  expect(count() - before).toBeGreaterThanOrEqual(8)
  expect(count() - before).toBeLessThanOrEqual(9)
})

it('shows changes while others follow faster than the server answers', async () => {
  api.wait = () => new Promise(resolve => setTimeout(resolve, 400))
  const posts = list()
  await clock.advance(2_000)
  const shown = new Set<string | undefined>()
  for (let at = 0; at < 100; at++) {
    api.write('posts', 1, { title: `Change ${at}` })
    await clock.advance(100)
    shown.add(title(posts))
  }
  expect(shown.size).toBeGreaterThanOrEqual(10)
})

it('opens a stream anew that says nothing for 60 seconds, and not one that sends comments', async () => {
  await open()
  for (let at = 0; at < 5; at++) {
    await clock.advance(25_000)
    api.send(':\n\n')
  }
  expect(api.opened).toHaveLength(1)
  await clock.advance(60_000 + TIMING.firstDelay)
  expect([api.opened.length, api.streams.size]).toEqual([2, 1])
})

it('tries less and less often while the server is down, and returns at the latest after 30 seconds', async () => {
  const posts = await open()
  attempts = 0
  isDown = true
  api.drop()
  await clock.advance(600_000)
  api.write('posts', 1, { title: 'Missed' })
  isDown = false
  await clock.advance(TIMING.maxDelay)
  expect([api.streams.size, title(posts)]).toEqual([1, 'Missed'])
  expect(attempts).toBeGreaterThanOrEqual(20)
  expect(attempts).toBeLessThanOrEqual(50)
})

it.each([['seconds', () => '120'], ['a date', () => new Date(Date.now() + 120_000).toUTCString()]])(
  'waits as long as `Retry-After` says, and up to a fifth more: %s', async (_, value) => {
    api.refusals.push(() => {
      const response = errorOf(503, 'BUSY')
      response.headers.set('retry-after', value())
      return response
    })
    list()
    await clock.advance(118_000)
    expect(api.opened).toHaveLength(1)
    await clock.advance(30_000)
    expect([api.opened.length, api.streams.size]).toEqual([2, 1])
  })

it('waits as long as `retry` of an `end` says', async () => {
  await open()
  api.send(`retry: 7000\n${eventOf('end', { reason: 'expired' })}`)
  await clock.advance(6_900)
  expect(api.opened).toHaveLength(1)
  await clock.advance(200)
  expect(api.opened).toHaveLength(2)
})

it('does not close the stream for a page change that needs the same resources again', async () => {
  const posts = await open() as unknown as { unmount: () => void }
  posts.unmount()
  await clock.advance(500)
  list({ sort: 'id' })
  await clock.advance(5_000)
  expect(api.opened).toHaveLength(1)
})
