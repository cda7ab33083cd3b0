/** Live queries of one tab: which responses are refetched when, over a real connection to a server with streams. */
import type { Server } from 'node:http'
import { focusManager } from '@tanstack/vue-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openWorld, serve, type Tab, type World } from './browser'
import { eventually } from '../eventually'
import { createFakeServer, errorOf, eventOf, type FakeServer } from './fake-server'

let api: FakeServer
let server: Server
let world: World
let tab: Tab

beforeEach(async () => {
  api = createFakeServer()
  for (const id of [1, 2]) api.write('posts', id, { title: `Post ${id}` })
  api.write('comments', 5, { postId: 1, text: 'First' })
  const served = await serve(api)
  ;({ server } = served)
  world = await openWorld(api, served.origin)
  tab = world.openTab()
})
afterEach(() => {
  world.close()
  server.closeAllConnections()
  server.close()
})

const LIVE = { live: true }
const use = () => tab.composables
const list = (options: object = LIVE, query: object = {}) => tab.mount(() => use().useAutoApiList!('posts', query, options))
const get = (id: number, options: object = LIVE, query: object = {}) => tab.mount(() => use().useAutoApiGet!('posts', id, query, options))
const titles = ({ data }: { data: { value?: { data: { title: string }[] } } }) => data.value?.data.map(({ title }) => title)
/** Waits until the stream is open and nothing is requested any more. */
async function settled() {
  await eventually(() => expect([api.streams.size, tab.live.state.status.value]).toEqual([1, 'open']))
  for (let quiet = 0; quiet < 3;) {
    const before = api.requests.length
    await new Promise(resolve => setTimeout(resolve, 5))
    quiet = api.requests.length === before && tab.queryClient.isFetching() === 0 ? quiet + 1 : 0
  }
}
const count = (request: string) => api.requests.filter(sent => sent === request).length

describe('a live query', () => {
  it('shows what others write', async () => {
    const posts = list()
    const count = tab.mount(() => use().useAutoApiAggregate!('posts', { aggregate: ['count'] }, LIVE))
    const pages = tab.mount(() => use().useAutoApiInfinite!('posts', {}, LIVE))
    await settled()
    api.write('posts', 3, { title: 'New' })
    await eventually(() => expect(titles(posts)).toEqual(['Post 1', 'Post 2', 'New']))
    await eventually(() => expect(count.data.value.data[0].count).toBe(3))
    await eventually(() => expect(pages.data.value.pages[0].data).toHaveLength(3))
    expect(api.opened).toEqual([{ resources: 'posts', last: null, caller: 'ada' }])
  })

  it('shows its 404 when its record is gone, and its list shows the others', async () => {
    const [posts, post] = [list(), get(2)]
    await settled()
    api.remove('posts', 2)
    await eventually(() => expect([titles(posts), post.error.value?.status]).toEqual([['Post 1'], 404]))
  })

  it('shows a record that is created after its 404', async () => {
    const post = get(9)
    await eventually(() => expect(post.error.value?.status).toBe(404))
    await settled()
    api.write('posts', 9, { title: 'Late' })
    await eventually(() => expect(post.data.value?.title).toBe('Late'))
  })

  it('is not refetched because of other records, unless it includes them', async () => {
    const [plain, included] = [get(1), get(1, LIVE, { include: { comments: true } })]
    await settled()
    const before = count('GET /api/posts/1')
    api.write('posts', 2, { title: 'Other' })
    api.write('comments', 5, { text: 'Edited' })
    await eventually(() => expect(included.data.value.comments[0].text).toBe('Edited'))
    await settled()
    expect([plain.data.value.title, count('GET /api/posts/1')]).toEqual(['Post 1', before])
  })

  it('listens to the resources that it includes', async () => {
    const posts = list(LIVE, { include: { comments: true } })
    await settled()
    expect(api.opened.at(-1)!.resources).toBe('comments,posts')
    api.write('comments', 6, { postId: 2, text: 'Second' })
    await eventually(() => expect(posts.data.value.data[1].comments).toHaveLength(1))
  })

  it('of a view listens to the resources that the view tracks', async () => {
    const totals = tab.mount(() => use().useAutoApiList!('totals', {}, LIVE))
    await settled()
    expect(api.opened.at(-1)!.resources).toBe('posts')
    api.write('totals', 1, { count: 3 })
    api.write('posts', 1, { title: 'Edited' })
    await eventually(() => expect(totals.data.value.data).toHaveLength(1))
  })

  it('is refetched once the stream is open, because the server rendered it earlier', async () => {
    tab.queryClient.setQueryData(['auto-api', 'posts', 'list', { query: {} }], { data: [{ id: 1, title: 'Rendered' }], meta: {} })
    const posts = list({ ...LIVE, refetchOnMount: false, staleTime: Infinity })
    expect(titles(posts)).toEqual(['Rendered'])
    await eventually(() => expect(titles(posts)).toEqual(['Post 1', 'Post 2']))
  })

  it('is refetched again if it changed while its request was under way', async () => {
    const posts = list()
    await settled()
    let answer!: () => void
    // The database has answered, and the response has not arrived.
    let waits = 0
    api.wait = () => ++waits === 2 ? new Promise(resolve => answer = resolve) : Promise.resolve()
    void posts.refetch()
    await eventually(() => expect(answer).toBeDefined())
    api.write('posts', 1, { title: 'During' })
    await eventually(() => expect(waits).toBe(2))
    answer()
    await eventually(() => expect(titles(posts)).toEqual(['During', 'Post 2']))
  })

  it('shows a record that is created between its 404 and the response', async () => {
    const posts = list()
    await settled()
    let answer!: () => void
    let waits = 0
    api.wait = () => ++waits === 2 ? new Promise(resolve => answer = resolve) : Promise.resolve()
    const post = get(9)
    await eventually(() => expect(answer).toBeDefined())
    api.write('posts', 9, { title: 'Late' })
    await eventually(() => expect(titles(posts)).toContain('Late'))
    answer()
    await eventually(() => expect(post.data.value?.title).toBe('Late'))
  })

  it('shows its first response later if the server could not answer the first request', async () => {
    vi.spyOn(api, 'handle').mockResolvedValueOnce(errorOf(429, 'RATE_LIMITED'))
    const posts = list()
    await eventually(() => expect(titles(posts)).toEqual(['Post 1', 'Post 2']))
  })

  it('is refetched again after a refetch failed', async () => {
    const posts = list()
    await settled()
    const refused = vi.spyOn(api, 'handle').mockResolvedValueOnce(errorOf(429, 'RATE_LIMITED'))
    api.write('posts', 1, { title: 'Edited' })
    await eventually(() => expect(titles(posts)).toEqual(['Edited', 'Post 2']))
    expect(refused).toHaveBeenCalled()
  })
})

describe('other queries', () => {
  it('are not refetched, and are stale when a component shows them again', async () => {
    const [posts, still] = [list(), tab.mount(() => use().useAutoApiList!('posts', { sort: 'id' }, { staleTime: Infinity }))]
    const hidden = tab.mount(() => use().useAutoApiList!('posts', { sort: '-id' }, { staleTime: Infinity }))
    await settled()
    hidden.unmount()
    api.write('posts', 1, { title: 'Edited' })
    await eventually(() => expect(titles(posts)![0]).toBe('Edited'))
    expect(titles(still)![0]).toBe('Post 1')
    const again = tab.mount(() => use().useAutoApiList!('posts', { sort: '-id' }, { staleTime: Infinity }))
    await eventually(() => expect(titles(again)).toContain('Edited'))
  })

  it('open no stream', async () => {
    const posts = list({})
    await eventually(() => expect(titles(posts)).toHaveLength(2))
    await new Promise(resolve => setTimeout(resolve))
    expect(api.opened).toEqual([])
  })
})

describe('a hidden tab', () => {
  it('refetches once when it becomes visible', async () => {
    const posts = list()
    await settled()
    focusManager.setFocused(false)
    const before = count('GET /api/posts')
    for (const title of ['A', 'B', 'C']) api.write('posts', 1, { title })
    const heard: unknown[] = []
    tab.live.listen(['posts'], ({ id }) => heard.push(id))
    api.write('posts', 2, { title: 'D' })
    await eventually(() => expect(heard).toContain('2'))
    expect(count('GET /api/posts')).toBe(before)
    focusManager.setFocused(true)
    await eventually(() => expect(titles(posts)).toEqual(['C', 'D']))
    expect(count('GET /api/posts')).toBe(before + 1)
  })
})

describe('an optimistic change', () => {
  it('is not undone by signals while its request is pending', async () => {
    const posts = list()
    const update = tab.mount(() => use().useAutoApiUpdate!('posts'))
    await settled()
    let answer!: () => void
    api.wait = () => new Promise(resolve => answer = resolve)
    const { rollback } = use().useAutoApiOptimisticUpdate!(tab.queryClient, 'posts', 1, { title: 'Mine' })
    const done = update.mutateAsync({ id: 1, title: 'Mine' }, { onError: rollback })
    await eventually(() => expect(answer).toBeDefined())
    const before = count('GET /api/posts')
    const seen: unknown[] = []
    tab.live.listen(['posts'], ({ id }) => seen.push(id))
    api.write('posts', 2, { title: 'Theirs' })
    await eventually(() => expect(seen).toContain('2'))
    await new Promise(resolve => setTimeout(resolve, 2))
    expect([titles(posts)![0], count('GET /api/posts')]).toEqual(['Mine', before])
    api.wait = () => Promise.resolve()
    answer()
    await done
    await eventually(() => expect(titles(posts)).toEqual(['Mine', 'Theirs']))
  })
})

describe('a stream that breaks', () => {
  it('resumes, and misses nothing', async () => {
    const posts = list()
    await settled()
    api.drop()
    api.write('posts', 1, { title: 'Missed' })
    await eventually(() => expect(titles(posts)).toEqual(['Missed', 'Post 2']))
    expect(api.opened.at(-1)!.last).toMatch(/^1-\d+$/)
  })

  it('refetches everything live if the server cannot resume', async () => {
    const posts = list()
    const signals: unknown[] = []
    tab.mount(() => use().useAutoApiLive!('posts', ({ event }: { event: string }) => signals.push(event)))
    await settled()
    await eventually(() => expect(signals).toEqual(['reset']))
    api.restart()
    api.write('posts', 1, { title: 'Missed' })
    api.restart()
    await eventually(() => expect([titles(posts), signals]).toEqual([['Missed', 'Post 2'], ['reset', 'reset']]))
  })

  it('reconnects after the time that the server names in `end`', async () => {
    list()
    await settled()
    api.send(`retry: 1\n${eventOf('end', { reason: 'closing' })}`)
    await eventually(() => expect(api.opened).toHaveLength(2))
    await settled()
  })

  it('is not opened again after the session has ended', async () => {
    list()
    await settled()
    api.send(eventOf('end', { reason: 'unauthorized' }))
    await eventually(() => expect(tab.live.state.error.value).toMatchObject({ status: 401, name: 'AutoApiError' }))
    expect([tab.live.state.status.value, api.opened.length]).toEqual(['closed', 1])
  })

  it('is opened again for the next caller, and takes over nothing', async () => {
    const posts = list()
    await settled()
    api.caller = 'ben'
    api.write('posts', 3, { title: 'For Ben' })
    await tab.queryClient.resetQueries({ queryKey: ['auto-api'] })
    await eventually(() => expect(api.opened.at(-1)).toEqual({ resources: 'posts', last: null, caller: 'ben' }))
    await settled()
    expect(titles(posts)).toContain('For Ben')
  })
})

describe('a stream that is refused', () => {
  it.each([400, 401, 403, 404])('stops with the error: %i', async (status) => {
    api.refusals.push(() => errorOf(status, 'REFUSED'))
    list()
    await eventually(() => expect(tab.live.state.error.value).toMatchObject({ status, code: 'REFUSED' }))
    expect([tab.live.state.status.value, api.opened.length]).toEqual(['closed', 1])
  })

  it.each([429, 503])('is opened again after `Retry-After`: %i', async (status) => {
    const busy = () => {
      const response = errorOf(status, 'BUSY')
      response.headers.set('retry-after', '0')
      return response
    }
    api.refusals.push(busy, busy)
    list()
    await settled()
    expect(api.opened).toHaveLength(3)
  })

  it.each([true, false])('does without an included resource that the caller cannot read, whether the error names it: %s', async (named) => {
    api.forbidden = { names: ['comments'], named }
    const posts = list(LIVE, { include: { comments: true } })
    await settled()
    expect(api.opened.map(({ resources }) => resources)).toEqual(['comments,posts', 'posts'])
    api.write('posts', 1, { title: 'Edited' })
    await eventually(() => expect(titles(posts)![0]).toBe('Edited'))
  })

  it.each([true, false])('does without a resource of a handler that the caller cannot read, whether the error names it: %s', async (named) => {
    api.forbidden = { names: ['users'], named }
    const live = tab.mount(() => use().useAutoApiLive!('users', () => {}))
    const posts = list()
    await settled()
    expect([api.streams.size, [...api.streams][0]!.resources, live.error.value?.status]).toEqual([1, ['posts'], 403])
    api.write('posts', 1, { title: 'Edited' })
    await eventually(() => expect(titles(posts)![0]).toBe('Edited'))
  })

  it('polls if the server has no streams', async () => {
    api.polls = true
    const posts = list()
    await eventually(() => expect(tab.live.state.status.value).toBe('polling'))
    api.write('posts', 1, { title: 'Polled' })
    await eventually(() => expect(titles(posts)).toEqual(['Polled', 'Post 2']))
    expect(api.opened).toHaveLength(1)
  })
})

describe('the resources of the stream', () => {
  it('follow the components of the page', async () => {
    const posts = list()
    await settled()
    const users = tab.mount(() => use().useAutoApiList!('users', {}, LIVE))
    await eventually(() => expect(api.opened.map(({ resources }) => resources)).toEqual(['posts', 'posts,users']))
    expect(api.opened[1]!.last).not.toBeNull()
    posts.unmount()
    await eventually(() => expect(api.opened.at(-1)!.resources).toBe('users'))
    users.unmount()
    await eventually(() => expect([api.streams.size, tab.live.state.status.value]).toEqual([0, 'closed']))
  })

  it('are those of the first response: a list that is refused opens no stream', async () => {
    vi.spyOn(api, 'handle').mockResolvedValueOnce(errorOf(403, 'FORBIDDEN'))
    const posts = list()
    await eventually(() => expect(posts.error.value?.status).toBe(403))
    expect(api.opened).toEqual([])
  })
})

describe('useAutoApiLive', () => {
  it('collects the ids of changed records, as in the docs', async () => {
    const { useChangedArticles } = await import('./example')
    const { changed, status } = tab.mount(useChangedArticles)
    await eventually(() => expect(status.value).toBe('open'))
    api.write('articles', 3, { title: 'New' })
    api.remove('articles', 3)
    api.write('articles', 4, { title: 'Newer' })
    await eventually(() => expect([...changed.value]).toEqual(['3', '4']))
  })

  it('calls the handler with each signal of its resources until the component unmounts', async () => {
    const signals: unknown[] = []
    list()
    const live = tab.mount(() => use().useAutoApiLive!(['users', 'comments'], (signal: unknown) => signals.push(signal)))
    await eventually(() => expect(live.status.value).toBe('open'))
    await eventually(() => expect(signals).toEqual([
      { event: 'reset', resource: 'comments', id: undefined }, { event: 'reset', resource: 'users', id: undefined },
    ]))
    api.write('posts', 1, { title: 'Edited' })
    api.write('users', 1, { name: 'Ada' })
    api.remove('comments', 5)
    await eventually(() => expect(signals.slice(2)).toEqual([
      { event: 'changed', resource: 'users', id: '1' }, { event: 'gone', resource: 'comments', id: '5' },
    ]))
    live.unmount()
    await eventually(() => expect(api.opened.at(-1)!.resources).toBe('posts'))
    expect(signals).toHaveLength(4)
  })
})
