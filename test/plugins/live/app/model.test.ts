/** Random signals, losses, tabs and writes: once nothing happens any more, each live query shows what the server has. */
import fc from 'fast-check'
import { focusManager } from '@tanstack/vue-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { byTier } from '../../../support/tiers'
import { createBrowser, openWorld, type FakeBrowser, type Tab, type World } from './browser'
import { startClock, type Clock } from './clock'
import { createFakeServer, errorOf, type FakeServer } from './fake-server'
import { TIMING } from '../../../../src/runtime/plugins/live/app/timing'

const RUNS = Number(process.env.RUNS ?? byTier({ push: 300, full: 2_000, release: 10_000 }))

const LISTS: readonly (readonly [composable: string, ...args: unknown[]])[] = [
  ['useAutoApiList', 'posts', {}],
  ['useAutoApiList', 'posts', { include: { comments: true } }],
  ['useAutoApiList', 'comments', {}],
  ['useAutoApiGet', 'posts', 1, {}],
  ['useAutoApiGet', 'posts', 2, { include: { comments: true } }],
  ['useAutoApiInfinite', 'users', {}],
  ['useAutoApiAggregate', 'posts', { aggregate: ['count'] }],
]

type Mounted = ReturnType<Tab['mount']> & { readonly data: { readonly value: unknown }, readonly error: { readonly value: { status: number } | null } }

interface OpenTab {
  readonly tab: Tab
  readonly mounted: Map<number, Mounted>
}

interface State {
  readonly api: FakeServer
  readonly clock: Clock
  readonly browser: FakeBrowser
  readonly tabs: OpenTab[]
  isDown: boolean
}

type Step = (state: State) => unknown

const resource = fc.constantFrom('posts', 'comments', 'users')
const id = fc.integer({ min: 1, max: 3 })
const value = fc.integer({ min: 0, max: 99 })
const index = fc.nat({ max: LISTS.length - 1 })
const which = fc.nat({ max: 3 })
const pick = ({ tabs }: State, at: number): OpenTab | undefined => tabs[at % Math.max(1, tabs.length)]

const write = (api: FakeServer, name: string, row: number, title: number) => api.write(name, row, { title, postId: 1 + title % 2 })

const STEPS: readonly fc.Arbitrary<readonly [string, Step]>[] = [
  fc.tuple(resource, id, value).map(([name, row, title]) => [`write ${name}/${row} = ${title}`, ({ api }) => write(api, name, row, title)]),
  fc.tuple(resource, id).map(([name, row]) => [`remove ${name}/${row}`, ({ api }) => api.remove(name, row)]),
  fc.nat({ max: 600 }).map(wait => [`wait ${wait}`, ({ clock }) => clock.advance(wait)]),
  fc.constant(['drop the streams', ({ api }) => api.drop()]),
  fc.constant(['restart the server', ({ api }) => api.restart()]),
  fc.boolean().map(isDown => [isDown ? 'the server is down' : 'the server is up', (state) => {
    state.isDown = isDown
    if (isDown) state.api.drop()
  }]),
  fc.boolean().map(isVisible => [isVisible ? 'the tabs are visible' : 'the tabs are hidden', () => focusManager.setFocused(isVisible)]),
  fc.tuple(which, index).map(([at, list]) => [`tab ${at} shows ${LISTS[list]!.join(' ')}`, state => show(pick(state, at), list)]),
  fc.tuple(which, index).map(([at, list]) => [`tab ${at} hides ${LISTS[list]!.join(' ')}`, state => hide(pick(state, at), list)]),
  fc.constant(['a tab opens', state => openTab(state)]),
  fc.tuple(which, fc.boolean()).map(([at, crashes]) => [`tab ${at} ${crashes ? 'crashes' : 'closes'}`, (state) => {
    const closed = pick(state, at)
    if (!closed) return
    state.tabs.splice(state.tabs.indexOf(closed), 1)
    if (crashes) closed.tab.crash()
    else closed.tab.close()
  }]),
  fc.tuple(which, id, value, fc.boolean()).map(([at, row, title, isRefused]) => [
    `tab ${at} ${isRefused ? 'tries to change' : 'changes'} posts/${row} = ${title}`,
    state => change(pick(state, at)?.tab, row, title, isRefused),
  ]),
  fc.constant(['the next stream is refused', ({ api }) => api.refusals.push(() => errorOf(503, 'BUSY'))]),
]

let world: World
let current: State

beforeAll(async () => {
  world = await openWorld({
    handle: request => current.isDown ? Promise.reject(new TypeError('fetch failed')) : current.api.handle(request),
  })
})
afterAll(() => world.close())

function openTab({ browser, tabs }: State): void {
  if (tabs.length < 3) tabs.push({ tab: world.openTab({ browser, timing: TIMING }), mounted: new Map() })
}

function show(open: OpenTab | undefined, list: number): void {
  if (!open || open.mounted.has(list)) return
  const [name, ...args] = LISTS[list]!
  open.mounted.set(list, open.tab.mount(() => open.tab.composables[name]!(...args, { live: true, staleTime: Infinity })) as Mounted)
}

function hide(open: OpenTab | undefined, list: number): void {
  open?.mounted.get(list)?.unmount()
  open?.mounted.delete(list)
}

function change(tab: Tab | undefined, row: number, title: number, isRefused: boolean): void {
  if (!tab) return
  const { mutate, unmount } = tab.mount(() => tab.composables.useAutoApiUpdate!('posts')) as
    { mutate: (variables: object, options: object) => void, unmount: () => void }
  const { rollback } = tab.composables.useAutoApiOptimisticUpdate!(tab.queryClient, 'posts', row, { title }) as { rollback: () => void }
  mutate({ id: isRefused ? 'refused' : row, title }, { onError: rollback, onSettled: unmount })
}

/** Returns what a request answers now, as the composable shows it. */
async function fresh(api: FakeServer, [composable, name, ...args]: (typeof LISTS)[number]): Promise<unknown> {
  const path = composable === 'useAutoApiGet' ? `/${args[0] as number}` : composable === 'useAutoApiAggregate' ? '/aggregate' : ''
  const query = args.at(-1) as { include?: object }
  const response = await api.handle(new Request(`http://localhost/api/${name as string}${path}${query.include ? '?include=comments' : ''}`))
  if (!response.ok) return response.status
  const body = await response.json() as unknown
  return composable === 'useAutoApiInfinite' ? { pages: [body], pageParams: [''] } : body
}

async function run(latencies: readonly number[], steps: readonly (readonly [string, Step])[]): Promise<void> {
  const clock = startClock()
  let requests = 0
  const api = createFakeServer(5)
  api.wait = () => new Promise(resolve => setTimeout(resolve, latencies[requests++ % latencies.length]))
  current = { api, clock, browser: createBrowser(), tabs: [], isDown: false }
  const state = current
  try {
    for (const name of ['posts', 'comments', 'users']) for (const row of [1, 2]) write(api, name, row, row)
    openTab(state)
    for (const [, step] of steps) await step(state)
    state.isDown = false
    focusManager.setFocused(true)
    for (const open of state.tabs) for (const list of LISTS.keys()) show(open, list)
    await clock.advance(120_000)
    api.wait = () => Promise.resolve()
    for (const { mounted } of state.tabs) {
      for (const [list, { data, error }] of mounted) {
        const expected = await fresh(api, LISTS[list]!)
        expect(error.value?.status ?? data.value, JSON.stringify([LISTS[list], data.value, expected])).toEqual(expected)
      }
    }
    expect([...api.streams].map(({ resources }) => resources.join())).toEqual(state.tabs.length > 0 ? ['comments,posts,users'] : [])
  }
  finally {
    for (const { tab } of state.tabs) tab.close()
    focusManager.setFocused(undefined)
    clock.restore()
  }
}

it(`after everything that can happen, each live query of each tab shows what the server has: ${RUNS} runs`, async () => {
  const latencies = fc.array(fc.nat({ max: 700 }), { minLength: 1, maxLength: 8 })
  const steps = fc.array(fc.oneof(...STEPS), { maxLength: 40 })
  await fc.assert(fc.asyncProperty(latencies, steps, run), {
    numRuns: RUNS,
    reporter: ({ failed, counterexample, errorInstance, seed, counterexamplePath }) => {
      if (!failed) return
      const [waits, taken] = counterexample!
      const what = [`seed ${seed}, path ${counterexamplePath}`, `latencies ${waits.join()}`, ...taken.map(([name]) => name)].join('\n')
      throw new Error(`${what}\n${(errorInstance as Error).message}`)
    },
  })
}, 60_000 + RUNS * 500)
