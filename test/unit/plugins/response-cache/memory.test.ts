/** The memory of stored responses is bounded, whatever clients request. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../../../src/runtime/server/plugins/response-cache/memory'
import type { Entry, Store } from '../../../../src/runtime/server/plugins/response-cache/store'

const KEYS = process.env.FULL ? 1_000_000 : 50_000
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
  for (let count = 0; count < KEYS; count++) await save(store, `key ${count} ${'k'.repeat(30)}`, JSON.stringify({ count, text: 'ä'.repeat(count % 700) }))
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
