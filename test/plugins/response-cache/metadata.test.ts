/** The metadata of a request differ each time: a response is stored if nothing has read them, and whatever reads them gets their values. */
import { describe, expect, it } from 'vitest'
import { HIT, MISS, openCache, respond, statusOf, STORED } from './open-cache'

const METADATA = { ip: '192.0.2.1' }
/** As the plugin `requestMetadata` defines it. */
const metadata = (changes: PropertyDescriptor = {}) =>
  Object.defineProperty({}, 'metadata', { value: METADATA, enumerable: true, configurable: true, ...changes })
type WithMetadata = { metadata?: unknown }

describe('the metadata of a request', () => {
  it.each([true, false])('that nothing reads are not part of its response (enumerable: %s)', async (enumerable) => {
    const { send, createContext, read } = openCache()
    const ctx = createContext(metadata({ enumerable }))
    const before = Object.getOwnPropertyDescriptor(ctx, 'metadata')
    let during: PropertyDescriptor | undefined
    const response = await send(ctx, async () => {
      during = Object.getOwnPropertyDescriptor(ctx, 'metadata')
      return respond()
    })
    expect([statusOf(response), await read(metadata())]).toEqual([STORED, HIT])
    expect(during).toMatchObject({ enumerable, configurable: true })
    expect(Object.getOwnPropertyDescriptor(ctx, 'metadata')).toEqual(before)
  })

  it('that something reads have their value, and the response is not stored', async () => {
    const { send, createContext } = openCache()
    for (let count = 0; count < 2; count++) {
      const ctx = createContext(metadata())
      let found: unknown
      const response = await send(ctx, async () => {
        found = (ctx as WithMetadata).metadata
        return respond()
      })
      expect([statusOf(response), found, (ctx as WithMetadata).metadata]).toEqual([MISS, METADATA, METADATA])
    }
  })

  it('that something reads in a copy of the context count as well', async () => {
    const { send, createContext, read } = openCache()
    const ctx = createContext(metadata())
    const copy = async () => {
      const { metadata } = { ...ctx } as WithMetadata
      return respond({ body: { metadata } })
    }
    expect(statusOf(await send(ctx, copy))).toBe(MISS)
    expect(await read(metadata())).toBe(STORED)
  })

  it.each<[string, PropertyDescriptor]>([
    ['cannot be replaced', { configurable: false }], ['code can assign to', { writable: true }],
  ])('that %s are not stored, because nothing would notice a read', async (_what, changes) => {
    const { read } = openCache()
    expect([await read(metadata(changes)), await read(metadata(changes))]).toEqual([MISS, MISS])
  })

  it('that a context inherits are not stored', async () => {
    const { send, createContext } = openCache()
    const inherited = () => Object.create(createContext(metadata())) as ReturnType<typeof createContext>
    for (let count = 0; count < 2; count++) expect(statusOf(await send(inherited(), async () => respond()))).toBe(MISS)
  })

  it('that are computed are not stored', async () => {
    const { read } = openCache()
    const computed = () => Object.defineProperty({}, 'metadata', { get: () => METADATA, configurable: true, enumerable: true })
    expect([await read(computed()), await read(computed())]).toEqual([MISS, MISS])
  })

  it('that a hook assigns have the new value', async () => {
    const { send, createContext } = openCache()
    const ctx = createContext({ metadata: METADATA })
    await send(ctx, async () => {
      Object.assign(ctx, { metadata: { ip: 'unknown' } })
      return respond()
    })
    expect((ctx as WithMetadata).metadata).toEqual({ ip: 'unknown' })
  })

  it('that `vary` names can be read', async () => {
    const { send, createContext } = openCache({ vary: ['metadata.ip'] })
    const read = async (ip: string) => {
      const ctx = createContext({ metadata: { ip } })
      return statusOf(await send(ctx, async () => respond({ body: (ctx as WithMetadata).metadata })))
    }
    expect([await read('a'), await read('a'), await read('b')]).toEqual([STORED, HIT, STORED])
  })
})
