/** The marker of a write: what a server accepts as one, for how long, and how many of one request. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { hasReached, type Position } from '../../../../../src/runtime/server/engines/log-position'
import { encrypt } from '../../../../../src/runtime/server/core/process/encryption'
import { createMarker, findMarkedPosition, MARKER_COOKIE, MARKER_HEADER } from '../../../../../src/runtime/server/core/replicas/marker'

/** Keys are kept by secret. */
const SECRETS = [randomUUID()] as const
const MAX_LAG = 10_000

const at = (number: number): Position => new Map([[0, BigInt(number)]])
const make = async (number: number, maxLag = MAX_LAG) => (await createMarker(SECRETS, at(number), maxLag, false)).token
const find = (headers: Readonly<Record<string, string>>, maxLag = MAX_LAG) => findMarkedPosition(name => headers[name], SECRETS, maxLag)
const inHeader = (token: string, maxLag?: number) => find({ [MARKER_HEADER]: token }, maxLag)
const toCookie = (token: string) => `${MARKER_COOKIE}=${token}`

afterEach(() => void vi.useRealTimers())

describe('a marker', () => {
  it('is found in the header and in each cookie of its name, and the latest one counts', async () => {
    const [low, middle, high] = await Promise.all([1, 2, 3].map(number => make(number)))
    expect(await inHeader(low!)).toEqual(at(1))
    expect(await find({ cookie: `a=b; ${toCookie(low!)};${toCookie(high!)} ; c=d` })).toEqual(at(3))
    expect(await find({ [MARKER_HEADER]: middle!, cookie: toCookie(low!) })).toEqual(at(2))
  })

  it('is absent without a header and a cookie of its name', async () => {
    const token = await make(1)
    expect(await find({})).toBeUndefined()
    expect(await find({ cookie: `a=b; x${toCookie(token)}` })).toBeUndefined()
  })

  it('stands for a position after all others if the primary did not return one', async () => {
    const { token } = await createMarker(SECRETS, undefined, MAX_LAG, false)
    const unknown = await inHeader(token)
    expect(hasReached(at(Number.MAX_SAFE_INTEGER), unknown!)).toBe(false)
  })

  it.each([[10_000, 60], [40_000, 80]])('with a maxLag of %i ms is accepted for %i s, as long as its cookie lives', async (maxLag, seconds) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { token, cookie } = await createMarker(SECRETS, at(1), maxLag, false)
    expect(cookie).toBe(`${toCookie(token)}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`)
    vi.setSystemTime(Date.now() + seconds * 1000)
    expect(await inHeader(token, maxLag)).toEqual(at(1))
    vi.setSystemTime(Date.now() + 1)
    expect(await inHeader(token, maxLag)).toBeUndefined()
    // A server whose clock is behind.
    vi.setSystemTime(Date.now() - 2 * seconds * 1000 - 2)
    expect(await inHeader(token, maxLag)).toBeUndefined()
  })

  it('has a cookie for HTTPS only on a page that was loaded over it', async () => {
    expect((await createMarker(SECRETS, at(1), MAX_LAG, true)).cookie).toMatch(/; SameSite=Lax; Secure$/)
  })
})

describe('a text that is no marker', () => {
  it.each([
    ['has no position', `${Date.now()}`],
    ['has no time', '0:1 '],
    ['has something before the position', `x0:1 ${Date.now()}`],
    ['has something after the time', `0:1 ${Date.now()}x`],
    ['has another purpose', undefined],
  ])('is ignored: it %s', async (_, text) => {
    expect(await inHeader(await encrypt(SECRETS, text === undefined ? 'cursor' : 'replicas', text ?? `0:1 ${Date.now()}`))).toBeUndefined()
  })

  it('does not cost more than three decryptions, and none if it is long', async () => {
    const decryptions = vi.spyOn(crypto.subtle, 'decrypt')
    const token = await make(1)
    await find({ cookie: Array.from({ length: 50 }, () => toCookie(token)).join('; ') })
    expect(decryptions).toHaveBeenCalledTimes(3)
    await inHeader('A'.repeat(1_001))
    expect(decryptions).toHaveBeenCalledTimes(3)
    await inHeader('A'.repeat(1_000))
    expect(decryptions).toHaveBeenCalledTimes(4)
    vi.restoreAllMocks()
  })
})
