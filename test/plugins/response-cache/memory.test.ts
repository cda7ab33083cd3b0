/** The memory of stored responses is bounded, whatever clients request. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../../src/runtime/plugins/response-cache/server/memory'
import type { Entry, Store } from '../../../src/runtime/plugins/response-cache/server/store'
import { isFull } from '../../support/tiers'

const KEYS = isFull ? 1_000_000 : 50_000
const MEGABYTE = 1024 * 1024

const entryOf = (text: string): Entry => ({ text, etag: '"a"', reads: ['posts'], expires: Date.now() + 60_000 })

async function save(store: Store, key: string, text: string): Promise<void> {
  const found = await store.find(key)
  if (found && !found.entry) await found.save(entryOf(text), ['posts'])
}
const has = async (store: Store, key: string) => (await store.find(key))?.entry !== undefined

it(`stays below \`maxBytes\` with ${KEYS} different keys`, async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const maxBytes = 8 * MEGABYTE
  const store = createMemoryStore(maxBytes)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let count = 0; count < KEYS; count++)
    await save(store, `key ${count} ${'k'.repeat(30)}`, JSON.stringify({ count, text: 'ä'.repeat(count % 700) }))
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(maxBytes)
  expect(await has(store, `key ${KEYS - 1} ${'k'.repeat(30)}`)).toBe(true)
  expect(await has(store, `key 0 ${'k'.repeat(30)}`)).toBe(false)
}, 600_000)

it('keeps the responses that are used, and none that would displace the others', async () => {
  const store = createMemoryStore(20_000)
  await save(store, 'used', 'x')
  for (let count = 0; count < 100; count++) {
    await save(store, `other ${count}`, 'x'.repeat(300))
    expect(await has(store, 'used')).toBe(true)
  }
  expect(await has(store, 'other 0')).toBe(false)
  await save(store, 'large', 'x'.repeat(10_000))
  expect([await has(store, 'large'), await has(store, 'used')]).toEqual([false, true])
})

it('does not replace a response by one that was read before a write', async () => {
  const store = createMemoryStore(20_000)
  const slow = await store.find('key')
  await store.raise(['posts'])
  await save(store, 'key', 'new')
  if (slow && !slow.entry) await slow.save(entryOf('old'), ['posts'])
  expect((await store.find('key'))?.entry?.text).toBe('new')
})

it('replaces a response that was read before a write by a later one, whose memory counts alone', async () => {
  const size = 600 + 2 * ('a'.length + 'x'.length + 2)
  const store = createMemoryStore(4 * size)
  const slow = await store.find('a')
  await store.raise(['posts'])
  const later = await store.find('a')
  if (slow && !slow.entry) await slow.save(entryOf('o'), ['posts'])
  if (later && !later.entry) await later.save(entryOf('n'), ['posts'])
  expect((await store.find('a'))?.entry?.text).toBe('n')
  for (const key of ['b', 'c', 'd']) await save(store, key, 'x')
  expect([await has(store, 'a'), await has(store, 'b')]).toEqual([true, true])
})

it('returns a response until it expires', async () => {
  let time = 1000
  const store = createMemoryStore(20_000, () => time)
  const found = await store.find('key')
  if (found && !found.entry) await found.save({ ...entryOf('text'), expires: 2000 }, ['posts'])
  time = 1999
  expect((await store.find('key'))?.entry?.text).toBe('text')
  time = 2000
  expect(await has(store, 'key')).toBe(false)
  time = 1000
  expect(await has(store, 'key')).toBe(false)
})

it('outdates the responses that depend on what was written, and no others', async () => {
  const store = createMemoryStore(20_000)
  const saveOf = async (key: string, dependencies: string[]) => {
    const found = await store.find(key)
    if (found && !found.entry) await found.save(entryOf(key), dependencies)
  }
  const all = async () => [await has(store, 'none'), await has(store, 'one'), await has(store, 'two')]
  const fill = async () => {
    await saveOf('none', [])
    await saveOf('one', ['posts'])
    await saveOf('two', ['tags', 'posts'])
  }
  await store.raise(['posts', 'tags'])
  await fill()
  expect(await all()).toEqual([true, true, true])
  await store.raise(['teams'])
  expect(await all()).toEqual([true, true, true])
  await store.raise(['teams', 'tags'])
  expect(await all()).toEqual([true, true, false])
  await store.raise(['posts'])
  expect(await all()).toEqual([true, false, false])
  await fill()
  await store.raiseAll()
  expect(await all()).toEqual([false, false, false])
})

it('does not return a response that was read before everything was outdated', async () => {
  const store = createMemoryStore(20_000)
  const slow = await store.find('key')
  await store.raiseAll()
  if (slow && !slow.entry) await slow.save(entryOf('old'), [])
  expect(await has(store, 'key')).toBe(false)
})

it('has one moment between two writes, and another after each', async () => {
  const store = createMemoryStore(20_000)
  const moment = async () => {
    const found = await store.find('key')
    return found && !found.entry ? found.moment : undefined
  }
  const first = await moment()
  expect(await moment()).toBe(first)
  await store.raise([])
  const second = await moment()
  await store.raiseAll()
  expect(new Set([first, second, await moment()]).size).toBe(3)
})

it('counts 600 bytes and two bytes per character of key, text and headers, and stores what fits exactly', async () => {
  const fits = async (maxBytes: number, key: string, entry: Partial<Entry>) => {
    const store = createMemoryStore(maxBytes)
    const found = await store.find(key)
    if (found && !found.entry) await found.save({ ...entryOf(''), ...entry }, [])
    return has(store, key)
  }
  // Without headers, two quotes of JSON count. A response can use a quarter of the memory.
  const bytes = 600 + 2 * ('key'.length + 'text'.length + 2)
  expect([await fits(4 * bytes, 'key', { text: 'text' }), await fits(4 * bytes - 1, 'key', { text: 'text' })]).toEqual([true, false])
  const withHeaders = bytes - 2 * 2 + 2 * '{"a":"b"}'.length
  const entry = { text: 'text', headers: { a: 'b' } }
  expect([await fits(4 * withHeaders, 'key', entry), await fits(4 * withHeaders - 1, 'key', entry)]).toEqual([true, false])
})

it('fills its memory to the last byte, again after responses were replaced, outdated or too large', async () => {
  const size = 600 + 2 * ('a'.length + 'x'.length + 2)
  const store = createMemoryStore(4 * size)
  const keys = ['a', 'b', 'c', 'd', 'e']
  const stored = async () => {
    const found = []
    for (const key of keys) if (await has(store, key)) found.push(key)
    return found.join('')
  }
  const fill = async () => {
    for (const key of ['a', 'b', 'c', 'd']) await save(store, key, 'x')
  }
  await fill()
  expect(await stored()).toBe('abcd')
  await store.raise(['posts'])
  await fill()
  expect(await stored()).toBe('abcd')
  await store.raiseAll()
  await fill()
  expect(await stored()).toBe('abcd')
  await store.raise(['posts'])
  // Too large: it removes the outdated response of its key, and nothing else.
  await save(store, 'a', 'xx')
  await fill()
  expect(await stored()).toBe('abcd')
})

it('removes the oldest responses that were not used since they were spared', async () => {
  const size = 600 + 2 * ('a'.length + 'x'.length + 2)
  const store = createMemoryStore(4 * size)
  for (const key of ['a', 'b', 'c', 'd']) await save(store, key, 'x')
  await has(store, 'a')
  // `a` was used: it becomes the newest, and `b` is removed. It is not spared again.
  for (const key of ['e', 'f', 'g', 'h', 'i']) await save(store, key, 'x')
  const found = []
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) if (await has(store, key)) found.push(key)
  expect(found.join('')).toBe('fghi')
})

it('keeps a response that it has spared as long as a new one', async () => {
  const size = 600 + 2 * ('a'.length + 'x'.length + 2)
  const store = createMemoryStore(4 * size)
  for (const key of ['a', 'b', 'c', 'd']) await save(store, key, 'x')
  await has(store, 'a')
  // Spares `a` and removes `b`, then removes `c`.
  for (const key of ['e', 'f']) await save(store, key, 'x')
  const found = []
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) if (await has(store, key)) found.push(key)
  expect(found.join('')).toBe('adef')
})

it('has no memory of responses from before everything was outdated', async () => {
  const size = 600 + 2 * ('a'.length + 'x'.length + 2)
  const store = createMemoryStore(4 * size)
  for (const key of ['a', 'b', 'c', 'd']) await save(store, key, 'x')
  await store.raiseAll()
  for (const key of ['e', 'f', 'g', 'h', 'i']) await save(store, key, 'x')
  expect([await has(store, 'e'), await has(store, 'f'), await has(store, 'i')]).toEqual([false, true, true])
})

it('does not spare a response that was used, but is outdated', async () => {
  const size = 600 + 2 * ('a'.length + 'x'.length + 2)
  const store = createMemoryStore(4 * size)
  for (const key of ['a', 'b', 'c', 'd']) await save(store, key, 'x')
  await has(store, 'a')
  const found = await store.find('e')
  await store.raise(['posts'])
  if (found && !found.entry) await found.save(entryOf('x'), ['tags'])
  const left = []
  for (const key of ['b', 'e']) if (await has(store, key)) left.push(key)
  expect(left.join('')).toBe('e')
})
