/** The tabs of a browser: one stream for all of them, whichever tab closes or crashes. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBrowser, openWorld, type FakeBrowser, type Tab, type World } from './browser'
import { eventually } from '../eventually'
import { createFakeServer, eventOf, type FakeServer } from './fake-server'

let api: FakeServer
let world: World
let browser: FakeBrowser

beforeEach(async () => {
  api = createFakeServer()
  for (const resource of ['posts', 'comments', 'users']) api.write(resource, 1, { title: 'Old' })
  world = await openWorld(api)
  browser = createBrowser()
})
afterEach(() => world.close())

function open(resource: string, options: Parameters<World['openTab']>[0] = { browser }) {
  const tab = world.openTab(options)
  const { data } = tab.mount(() => tab.composables.useAutoApiList!(resource, {}, { live: true })) as {
    data: { value?: { data: { title: string }[] } }
  }
  return { ...tab, title: () => data.value?.data[0]?.title }
}
const resources = () => [...api.streams].map(({ resources }) => resources.join())
/** Waits for the one stream of the tabs. */
const opened = (names: string, tabs: readonly Pick<Tab, 'live'>[]) =>
  eventually(() => expect([resources(), ...tabs.map(({ live }) => live.state.status.value)]).toEqual([[names], ...tabs.map(() => 'open')]))
const shows = (titles: string[], tabs: readonly { title: () => string | undefined }[]) =>
  eventually(() => expect(tabs.map(({ title }) => title())).toEqual(titles))

it('three tabs have one stream with the resources of all, and each shows what others write', async () => {
  const tabs = ['posts', 'comments', 'posts'].map(resource => open(resource))
  await opened('comments,posts', tabs)
  api.write('posts', 1, { title: 'New' })
  api.write('comments', 1, { title: 'Newer' })
  await shows(['New', 'Newer', 'New'], tabs)
})

it.each<[string, (tab: Tab) => void]>([['closes', tab => tab.close()], ['crashes', tab => tab.crash()]])(
  'another tab takes over and misses nothing if the leader %s', async (_, end) => {
    const [leader, second, third] = [open('posts'), open('users'), open('comments')] as const
    await opened('comments,posts,users', [leader, second, third])
    await shows(['Old', 'Old'], [second, third])
    end(leader)
    api.write('users', 1, { title: 'New' })
    api.write('comments', 1, { title: 'Newer' })
    await shows(['New', 'Newer'], [second, third])
    await opened('comments,users', [second, third])
    expect(api.opened.at(-1)!.last).not.toBeNull()
  })

it.each<[string, (tab: Tab) => void]>([['closes', tab => tab.close()], ['crashes', tab => tab.crash()]])(
  'the stream does without the resources of a tab that %s', async (_, end) => {
    const [leader, second] = [open('posts'), open('users')]
    await opened('posts,users', [leader, second])
    end(second)
    await opened('posts', [leader])
  })

it('a tab that opens makes the leader open the stream with the session that the browser has now', async () => {
  const first = open('posts')
  await opened('posts', [first])
  api.caller = 'ben'
  const second = open('posts')
  await opened('posts', [first, second])
  await eventually(() => expect(api.opened.at(-1)!.caller).toBe('ben'))
})

it('a change of the session in one tab opens the stream anew for all, without what it has received', async () => {
  const [leader, second] = [open('posts'), open('posts')]
  await opened('posts', [leader, second])
  await shows(['Old', 'Old'], [leader, second])
  const before = api.opened.length
  api.caller = 'ben'
  void second.queryClient.resetQueries({ queryKey: ['auto-api'] })
  await eventually(() => expect(api.opened.slice(before)).toContainEqual({ resources: 'posts', last: null, caller: 'ben' }))
  api.write('posts', 1, { title: 'Of Ben' })
  await shows(['Of Ben', 'Of Ben'], [leader, second])
})

it('all tabs learn why the stream has ended', async () => {
  const tabs = [open('posts'), open('posts')]
  await opened('posts', tabs)
  api.send(eventOf('end', { reason: 'unauthorized' }))
  await eventually(() => expect(tabs.map(({ live }) => [live.state.status.value, live.state.error.value?.status]))
    .toEqual([['closed', 401], ['closed', 401]]))
})

it('tabs with other names share no stream: another API, another caller', async () => {
  const tabs = ['a', 'b'].map(name => open('posts', { browser, name }))
  await eventually(() => expect(resources()).toEqual(['posts', 'posts']))
  api.write('posts', 1, { title: 'New' })
  await shows(['New', 'New'], tabs)
})

it.each([{ locks: false }, { channels: false }])('each tab has a stream of its own without one of the APIs: %j', async (missing) => {
  const without = createBrowser(missing)
  const tabs = [open('posts', { browser: without }), open('posts', { browser: without })]
  await eventually(() => expect(resources()).toEqual(['posts', 'posts']))
  api.write('posts', 1, { title: 'New' })
  await shows(['New', 'New'], tabs)
})

it('a tab that leaves and returns, as from the back/forward cache, shows what it has missed', async () => {
  const [leader, second] = [open('posts'), open('posts')]
  await opened('posts', [leader, second])
  leader.live.stop()
  api.write('posts', 1, { title: 'Missed' })
  await shows(['Missed'], [second])
  leader.live.start()
  await shows(['Missed', 'Missed'], [leader, second])
  await opened('posts', [leader, second])
})
