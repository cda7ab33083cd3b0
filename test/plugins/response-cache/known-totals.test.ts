/** Which totals the response cache keeps, until when, and for which statements. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { requireSession } from '../../../src/runtime/server/core/request/session'
import { knownTotals } from '../../../src/runtime/server/core/read/total-cache'
import { createItems, openCache, respond } from './open-cache'

// A response that nobody resolves must not hold up the other tests.
vi.setConfig({ testTimeout: 2_000 })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const STATEMENT = { text: 'select count(*)', values: [1] as unknown[] }
interface Question {
  readonly statement?: typeof STATEMENT
  /** `null`: nobody knows what the count reads. */
  readonly reads?: readonly string[] | null
  readonly user?: object
  /** Runs in the request, before it asks for the total. */
  readonly before?: () => void
}

/** Asks for the total of a list during a request that is read. Returns it, and whether it was counted. */
function open(options: Parameters<typeof openCache>[0] = {}) {
  const opened = openCache(options)
  let requests = 0
  let total = 5
  async function ask({ statement = STATEMENT, reads = ['posts'], user, before }: Question = {}) {
    const ctx = opened.createContext({ query: { page: String(requests++) }, ...user && { user } })
    let counted = false
    let found: number | undefined
    opened.requireCurrent.mockClear()
    await opened.send(ctx, async () => {
      before?.()
      found = await knownTotals(requireSession(ctx))!(statement, reads ?? undefined, async () => {
        counted = true
        return total
      })
      return respond()
    })
    return { total: found, counted }
  }
  return { ...opened, ask, setTotal: (value: number) => void (total = value) }
}
const COUNTED = { total: 5, counted: true }
const KNOWN = { total: 5, counted: false }
const change = (resource: string) => [{ resource, table: resource, kind: 'create', id: '1' }] as const

describe.each([
  ['in memory', () => ({})],
  ['in a storage', () => ({ storage: createItems().storage })],
])('a total %s', (_where, options) => {
  it('is counted once for several requests', async () => {
    const { ask, setTotal } = open(options())
    expect(await ask()).toEqual(COUNTED)
    setTotal(6)
    expect([await ask(), await ask()]).toEqual([KNOWN, KNOWN])
  })

  it('is counted for each statement, for each value of it, and for each caller', async () => {
    const { ask } = open(options())
    await ask()
    expect(await ask({ statement: { ...STATEMENT, text: 'select count(id)' } })).toEqual(COUNTED)
    expect(await ask({ statement: { ...STATEMENT, values: [2] } })).toEqual(COUNTED)
    expect(await ask({ user: { id: 1 } })).toEqual(COUNTED)
    expect(await ask()).toEqual(KNOWN)
  })

  it('is counted again after a write to what it reads, and after no other write', async () => {
    const { ask, cache, setTotal } = open(options())
    await ask({ reads: ['posts', 'tags'] })
    await cache.onCommit([{ table: 'links', kind: 'link', id: '1' }])
    expect(await ask({ reads: ['posts', 'tags'] })).toEqual(KNOWN)
    for (const resource of ['posts', 'tags']) {
      await cache.onCommit(change(resource))
      setTotal(6)
      expect(await ask({ reads: ['posts', 'tags'] })).toEqual({ total: 6, counted: true })
    }
  })

  it('is counted again after `ttl`', async () => {
    const { ask } = open({ ...options(), ttl: 2 })
    await ask()
    await vi.advanceTimersByTimeAsync(1_999)
    expect(await ask()).toEqual(KNOWN)
    await vi.advanceTimersByTimeAsync(1)
    expect(await ask()).toEqual(COUNTED)
  })
})

describe('a total is counted each time', () => {
  it('if it is unknown what it reads', async () => {
    const { ask } = open()
    const unknown = { reads: null }
    expect([await ask(unknown), await ask(unknown)]).toEqual([COUNTED, COUNTED])
  })

  it('if the resource has a read hook', async () => {
    const { ask } = open({ hooked: ['posts'] })
    expect([await ask(), await ask()]).toEqual([COUNTED, COUNTED])
  })

  it('if no key can contain a value of the statement', async () => {
    const { ask } = open()
    const statement = { ...STATEMENT, values: [new Uint8Array(1)] }
    expect([await ask({ statement }), await ask({ statement })]).toEqual([COUNTED, COUNTED])
  })

  it('if the storage has failed meanwhile', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { storage } = createItems()
    let isDown = false
    const getAll: typeof storage.getAll = async keys => isDown ? Promise.reject(new Error('down')) : storage.getAll(keys)
    const { ask } = open({ storage: { ...storage, getAll } })
    await ask()
    expect(await ask({ before: () => void (isDown = true) })).toEqual(COUNTED)
  })
})

it('a total that is counted reads no rows that a replica lacks', async () => {
  const { ask, requireCurrent } = open()
  await ask()
  // Once for the response, and once for the total, whose generations are newer.
  expect(requireCurrent).toHaveBeenCalledTimes(2)
  await ask()
  expect(requireCurrent).toHaveBeenCalledTimes(1)
})
