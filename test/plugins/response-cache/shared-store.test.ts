/** Responses of several servers in one storage: what outdates them, and which entries of the storage are not used. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { KeyValue } from '../../../src/runtime/plugins/response-cache/server/key-value'
import { createSharedStore } from '../../../src/runtime/plugins/response-cache/server/shared'
import type { Entry, Store } from '../../../src/runtime/plugins/response-cache/server/store'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function createMap() {
  const items = new Map<string, string>()
  const ttls: number[] = []
  const storage: KeyValue = {
    getAll: vi.fn(async (keys: readonly string[]) => keys.map(key => items.get(key) ?? null)),
    set: async (key, value, ttl) => (ttls.push(ttl), void items.set(key, value)),
    setAll: async pairs => pairs.forEach(([key, value]) => items.set(key, value)),
    create: vi.fn(async (pairs: readonly (readonly [string, string])[]) =>
      pairs.forEach(([key, value]) => items.has(key) || items.set(key, value)),
    ),
  }
  return { storage, items, ttls, entryKey: () => [...items.keys()].find(key => key.startsWith('entry:'))! }
}
const TTL = 60
const entryOf = (text: string, expires = Date.now() + TTL * 1000): Entry => ({ text, etag: '"a"', reads: ['posts'], expires })
const open = (storage: KeyValue) => createSharedStore(storage, () => ['posts', 'tags'], TTL)

async function save(store: Store, key: string, entry = entryOf('text'), dependencies = ['posts']): Promise<void> {
  const found = await store.find(key)
  if (found && !found.entry) await found.save(entry, dependencies)
}
const textOf = async (store: Store, key = 'key') => (await store.find(key))?.entry?.text
const momentOf = async (store: Store) => {
  const found = await store.find('other')
  return found && !found.entry ? found.moment : undefined
}

describe('a response', () => {
  it('is found by every server, as it was saved', async () => {
    const { storage, ttls } = createMap()
    const [one, other] = [open(storage), open(storage)]
    const entry = { ...entryOf('text'), revision: 'r', headers: { 'x-a': 'b' } }
    await save(one, 'key', entry)
    expect((await other.find('key'))?.entry).toMatchObject(entry)
    expect(ttls).toEqual([TTL])
    expect(await textOf(other, 'another key')).toBeUndefined()
  })

  it('has no data of the user in its key', async () => {
    const { storage, items } = createMap()
    await save(open(storage), 'user 1 secret')
    expect([...items.keys()].join()).not.toContain('secret')
  })

  it('is outdated on every server by a write to a dependency, and by no other write', async () => {
    const { storage } = createMap()
    const [one, other] = [open(storage), open(storage)]
    await save(one, 'key')
    await other.raise(['tags'])
    expect(await textOf(one)).toBe('text')
    await other.raise(['tags', 'posts'])
    expect([await textOf(one), await textOf(other)]).toEqual([undefined, undefined])
    await save(one, 'key', entryOf('new'), [])
    await other.raise(['posts', 'tags'])
    expect(await textOf(one)).toBe('new')
    await other.raiseAll()
    expect(await textOf(one)).toBeUndefined()
  })

  it('that was read before a write is not used after it, even if it is saved later', async () => {
    const { storage } = createMap()
    const store = open(storage)
    const slow = await store.find('key')
    await store.raise(['posts'])
    if (slow && !slow.entry) await slow.save(entryOf('old'), ['posts'])
    expect(await textOf(store)).toBeUndefined()
  })

  it('is not saved if nothing would outdate it', async () => {
    const { storage, entryKey } = createMap()
    await save(open(storage), 'key', entryOf('text'), ['posts', 'unknown'])
    expect(entryKey()).toBeUndefined()
  })

  it('is used until it expires, but not if the clock of another server was ahead', async () => {
    const { storage } = createMap()
    const store = open(storage)
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now })
    await save(store, 'key', entryOf('text', now + 1000))
    vi.setSystemTime(now + 999)
    expect(await textOf(store)).toBe('text')
    vi.setSystemTime(now + 1000)
    expect(await textOf(store)).toBeUndefined()
    await save(store, 'ahead', entryOf('ahead', now + 1000 + TTL * 1000 + 1))
    expect(await textOf(store, 'ahead')).toBeUndefined()
    vi.setSystemTime(now + 1001)
    expect(await textOf(store, 'ahead')).toBe('ahead')
  })

  it.each<[string, (stored: Record<string, unknown>) => unknown]>([
    ['null', () => null],
    ['a number', () => 1],
    ['no text', ({ text: _, ...rest }) => rest],
    ['a text that is no text', stored => ({ ...stored, text: 1 })],
    ['no tag', ({ etag: _, ...rest }) => rest],
    ['an end that is no number', stored => ({ ...stored, expires: String(stored.expires) })],
    ['no list of resources', stored => ({ ...stored, reads: 'posts' })],
    ['no generations', ({ generations: _, ...rest }) => rest],
  ])('with %s in the storage is read again', async (_what, change) => {
    const { storage, items, entryKey } = createMap()
    const store = open(storage)
    await save(store, 'key')
    const stored = items.get(entryKey())!
    expect(await textOf(store)).toBe('text')
    items.set(entryKey(), JSON.stringify(change(JSON.parse(stored) as Record<string, unknown>)))
    expect(await textOf(store)).toBeUndefined()
    items.set(entryKey(), `${stored}x`)
    expect(await textOf(store)).toBeUndefined()
    items.set(entryKey(), stored)
    expect(await textOf(store)).toBe('text')
  })
})

describe('the generations', () => {
  it('are created once for requests at the same time, one for each name', async () => {
    const { storage, items } = createMap()
    const store = open(storage)
    const moments = await Promise.all(Array.from({ length: 5 }, () => momentOf(store)))
    expect([new Set(moments).size, vi.mocked(storage.create).mock.calls.length]).toEqual([1, 1])
    expect([...items.keys()].sort()).toEqual(['generation:*', 'generation:**', 'generation:posts', 'generation:tags'])
    expect(new Set(items.values()).size).toBe(4)
    for (const generation of items.values()) expect(generation).toMatch(/^[\da-f-]{18}$/)
    items.delete('generation:posts')
    expect(await momentOf(store)).not.toBe(moments[0])
    expect(vi.mocked(storage.create).mock.calls[1]![0].map(([key]) => key)).toEqual(['generation:posts'])
  })

  it('are another moment after each write', async () => {
    const { storage } = createMap()
    const store = open(storage)
    const moments = [await momentOf(store), await momentOf(store)]
    expect(moments[0]).toBe(moments[1])
    await store.raise(['tags'])
    moments.push(await momentOf(store))
    await store.raiseAll()
    expect(new Set([...moments, await momentOf(store)]).size).toBe(3)
  })

  it('that the storage does not keep are tried three times', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { storage } = createMap()
    const store = open({ ...storage, create: async () => {} })
    expect(await store.find('key')).toBeUndefined()
    expect(storage.getAll).toHaveBeenCalledTimes(3)
    expect(vi.mocked(console.error).mock.calls[0]![1]).toEqual(new Error('The storage does not keep what is written to it.'))
  })
})

describe('a storage that returns after a failure', () => {
  it('has no response that is used', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { storage } = createMap()
    let isDown = false
    const fails = <T extends (...args: never[]) => Promise<unknown>>(run: T) => (async (...args: Parameters<T>) => {
      if (isDown) throw new Error('down')
      return run(...args)
    }) as T
    const store = open({ ...storage, getAll: fails(storage.getAll), setAll: fails(storage.setAll) })
    await save(store, 'key', entryOf('text'), [])
    vi.useFakeTimers()
    isDown = true
    // The write is lost.
    await store.raise(['posts'])
    expect(await store.find('key')).toBeUndefined()
    isDown = false
    vi.advanceTimersByTime(1_000)
    expect(await textOf(store)).toBeUndefined()
    await save(store, 'key', entryOf('new'), [])
    expect(await textOf(store)).toBe('new')
  })

  it.each<[string, (store: Store) => unknown]>([
    ['a write', store => store.raise(['posts'])],
    ['a write to everything', store => store.raiseAll()],
  ])('is not used if %s was lost while it returned', async (_what, write) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.useFakeTimers()
    const { storage } = createMap()
    let isDown = true
    let recover: () => void
    const recovery = new Promise<void>(resolve => (recover = resolve))
    const setAll = vi.fn(storage.setAll).mockImplementationOnce(() => recovery)
    const store = open({ ...storage, setAll, getAll: async keys => (isDown ? Promise.reject(new Error('down')) : storage.getAll(keys)) })
    expect(await store.find('key')).toBeUndefined()
    isDown = false
    vi.advanceTimersByTime(1_000)
    const found = store.find('key')
    await write(store)
    recover!()
    expect(await found).toBeUndefined()
    expect(setAll).toHaveBeenCalledOnce()
    expect(await store.find('key')).toBeDefined()
    expect(setAll.mock.calls[1]![0].map(([key]) => key)).toEqual(['generation:**'])
  })
})
