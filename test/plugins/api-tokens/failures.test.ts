/** Invalid tokens by client address: when an address is blocked, for how long, and how much one server remembers. */
import { describe, expect, it } from 'vitest'
import type { IncomingRequest } from '../../../src/runtime/server/core/extensions/listeners'
import { createFailureCounter } from '../../../src/runtime/plugins/api-tokens/server/failures'
import { createMemoryCounter } from '../../../src/runtime/server/plugin/counter/memory'

const from = (address: string | undefined) => ({ address: () => address }) as IncomingRequest

function open(limit: number, window: number) {
  let time = 1000
  const keys: string[] = []
  const memory = createMemoryCounter(200_000, () => time)
  const counter = { hit: (key: string, milliseconds: number) => (keys.push(key), memory.hit(key, milliseconds)) }
  const failures = createFailureCounter(counter, limit, window, () => time)
  const waitOf = (address: string | undefined) => {
    try {
      failures.assertOpen(from(address))
      return undefined
    }
    catch (error) {
      const { status, headers } = error as { status: number, headers: Record<string, string> }
      return `${status} ${Object.entries(headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`).join()}`
    }
  }
  return {
    keys, waitOf,
    fail: async (address: string | undefined, times = 1) => {
      for (let index = 0; index < times; index++) await failures.add(from(address))
    },
    wait: (milliseconds: number) => void (time += milliseconds),
  }
}

describe('an address with invalid tokens', () => {
  it('is blocked from the last one of the limit until the window ends', async () => {
    const { waitOf, fail, wait } = open(2, 10)
    expect(waitOf('1.1.1.1')).toBeUndefined()
    await fail('1.1.1.1')
    expect(waitOf('1.1.1.1')).toBeUndefined()
    wait(4000)
    await fail('1.1.1.1')
    expect(waitOf('1.1.1.1')).toBe('429 retry-after: 6')
    wait(5999)
    expect(waitOf('1.1.1.1')).toBe('429 retry-after: 1')
    wait(1)
    expect(waitOf('1.1.1.1')).toBeUndefined()
  })

  it('does not block others', async () => {
    const { waitOf, fail } = open(1, 10)
    await fail('1.1.1.1')
    expect([waitOf('1.1.1.1'), waitOf('1.1.1.2'), waitOf(undefined)]).toEqual(['429 retry-after: 10', undefined, undefined])
  })

  it('is its network, because a client of IPv6 can change the other bits', async () => {
    const { waitOf, fail, keys } = open(2, 10)
    await fail('2001:db8:1:2:0:0:0:1')
    await fail('2001:db8:1:2:9:9:9:9')
    expect(waitOf('2001:db8:1:2:5:5:5:5')).toBe('429 retry-after: 10')
    expect(waitOf('2001:db8:1:3:5:5:5:5')).toBeUndefined()
    expect(new Set(keys)).toEqual(new Set(['api-tokens:2001:db8:1:2::/64']))
  })

  it('shares the limit with all others whose address is unknown', async () => {
    const { waitOf, fail } = open(2, 10)
    await fail(undefined, 2)
    expect([waitOf(undefined), waitOf('1.1.1.1')]).toEqual(['429 retry-after: 10', undefined])
  })

  it('begins a new window after the block', async () => {
    const { waitOf, fail, wait } = open(2, 10)
    await fail('1.1.1.1', 2)
    wait(10_000)
    expect(waitOf('1.1.1.1')).toBeUndefined()
    await fail('1.1.1.1')
    expect(waitOf('1.1.1.1')).toBeUndefined()
    await fail('1.1.1.1')
    expect(waitOf('1.1.1.1')).toBe('429 retry-after: 10')
  })
})

describe('the memory of one server', () => {
  it('forgets the address that it blocked first, and only this one, above 100 000', async () => {
    const { waitOf, fail } = open(1, 10)
    const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`
    for (let index = 0; index < 100_000; index++) await fail(address(index))
    expect([waitOf(address(0)), waitOf(address(1))]).toEqual(['429 retry-after: 10', '429 retry-after: 10'])
    await fail('9.9.9.9')
    expect([waitOf(address(0)), waitOf(address(1)), waitOf('9.9.9.9')]).toEqual([undefined, '429 retry-after: 10', '429 retry-after: 10'])
  })

  it('counts an address that was blocked again as the newest', async () => {
    const { waitOf, fail, wait } = open(1, 10)
    const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`
    await fail(address(0))
    wait(10_000)
    expect(waitOf(address(0))).toBeUndefined()
    for (let index = 1; index < 99_999; index++) await fail(address(index))
    for (const again of [address(0), '9.9.9.8', '9.9.9.9']) await fail(again)
    expect([waitOf(address(0)), waitOf(address(1)), waitOf(address(2))]).toEqual(['429 retry-after: 10', undefined, '429 retry-after: 10'])
  })
})
