/** What a token can be given: its scopes and its expiry, to the second and to the last scope. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApiError } from '../../../src/runtime/server/core/error'
import type { AutoApiContext } from '../../../src/runtime/server/registration'
import { assertNotExpired } from '../../../src/runtime/plugins/api-tokens/server/manage'
import { resolveOptions } from '../../../src/runtime/plugins/api-tokens/options'
import { secretOf, type TokenRow } from '../../../src/runtime/plugins/api-tokens/server/row'
import {
  assertNarrower,
  assertWithin,
  holds,
  readExpiry,
  readScopes,
  type Maker,
} from '../../../src/runtime/plugins/api-tokens/server/rules'

const NOW = Date.parse('2026-11-01T00:00:00Z')
const DAY = 86_400_000
const at = (days: number, milliseconds = 0) => new Date(NOW + days * DAY + milliseconds)

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
afterEach(() => void vi.useRealTimers())

/** The code, the message and the data of the error, or what is returned. */
async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return await run()
  }
  catch (error) {
    const { message, data: { code, ...data } } = error as ApiError & { readonly data: Readonly<Record<string, unknown>> }
    return { code, message, data }
  }
}
const row = (columns: Partial<TokenRow>) =>
  ({ scopes: null, expiresAt: null, tokenHash: 'current', previousHash: null, previousUntil: null, ...columns }) as TokenRow
const issue = (field: string, message: string | RegExp) => ({
  code: 'VALIDATION_FAILED', message: expect.any(String),
  data: { issues: [{ path: [field], message: typeof message === 'string' ? message : expect.stringMatching(message), code: 'custom' }] },
})
const maker = (scopes: readonly string[], expiresAt: Date | null = null): Maker => ({ grants: scope => scopes.includes(scope), expiresAt })

describe('scopes', () => {
  it('are a list of scopes, each once, or null for everything', () => {
    expect(readScopes(null)).toBeNull()
    expect(readScopes(undefined)).toBeNull()
    expect(readScopes([])).toEqual([])
    expect(readScopes(['a', 'b', 'a'])).toEqual(['a', 'b'])
    const hundred = Array.from({ length: 100 }, (_, index) => `s${index}`)
    expect(readScopes(hundred)).toEqual(hundred)
    expect(readScopes(['x'.repeat(128), '!', '~', '#', '[', ']'])).toHaveLength(6)
  })

  it.each<[string, unknown]>([
    ['text', 'a'],
    ['a number', 1],
    ['an object', {}],
    ['false', false],
    ['empty text', ''],
    ['a list with an empty scope', ['']],
    ['a number in the list', ['a', 1]],
    ['null in the list', [null]],
    ['every permission', ['a', '*']],
    ['101 scopes', Array.from({ length: 101 }, (_, index) => `s${index}`)],
    ['129 characters', ['x'.repeat(129)]],
    ['a space', ['a b']],
    ['a space before', [' a']],
    ['a quote', ['"a"']],
    ['a backslash', ['a\\']],
    ['a letter beyond ASCII', ['é']],
    ['a line break', ['a\n']],
    ['DEL', ['\x7F']],
  ])('are refused as %s', async (_what, value) => {
    expect(await outcome(() => readScopes(value))).toMatchObject(
      issue('scopes', 'Use a list of at most 100 scopes such as "posts:read", or null for everything that you can do.'),
    )
  })

  it('never contain every permission, not even for a caller who has it', async () => {
    expect(await holds('*', { user: { id: 1, role: '*' }, permissions: ['*'] } as unknown as AutoApiContext)).toBe(false)
  })

  it('of a token become fewer, never more', async () => {
    const narrow = (scopes: readonly string[] | null, current: readonly string[] | null) =>
      outcome(() => assertNarrower(scopes, row({ scopes: current })))
    for (const [scopes, current] of [
      [['a'], ['a', 'b']],
      [[], ['a']],
      [['a'], ['a']],
      [['a'], null],
      [null, null],
      [[], []],
    ] as const)
      expect(await narrow(scopes, current)).toBeUndefined()
    const message = 'The scopes of a token can only become fewer. Make a new token.'
    expect(await narrow(['a', 'c', 'd'], ['a', 'b'])).toMatchObject({ code: 'FORBIDDEN', message, data: { scopes: ['c', 'd'] } })
    expect(await narrow(['a'], [])).toMatchObject({ code: 'FORBIDDEN', message, data: { scopes: ['a'] } })
    expect(await narrow(null, ['a'])).toMatchObject({ code: 'FORBIDDEN', message, data: { scopes: [] } })
  })
})

describe('an expiry', () => {
  const policy = (options: { maxDays?: number, allowNoExpiry?: boolean } = {}) => resolveOptions({ findUser: () => null, ...options })
  const read = (value: unknown, options?: { maxDays?: number, allowNoExpiry?: boolean }, limit?: Date | null) =>
    outcome(() => readExpiry(value, policy(options), limit === undefined ? undefined : maker([], limit)))
  const outlives = { code: 'FORBIDDEN', message: 'A token cannot make a token that is valid for longer.', data: { field: 'expiresAt' } }

  it('is after 90 days by default, or earlier if tokens or the maker end earlier', async () => {
    expect(await read(undefined)).toEqual(at(90))
    expect(await read(undefined, { maxDays: 90 })).toEqual(at(90))
    expect(await read(undefined, { maxDays: 7 })).toEqual(at(7))
    expect(await read(undefined, {}, at(3))).toEqual(at(3))
    expect(await read(undefined, {}, at(200))).toEqual(at(90))
    expect(await read(undefined, {}, null)).toEqual(at(90))
  })

  it('is in the future, and not beyond maxDays', async () => {
    expect(await read(at(0, 1))).toEqual(at(0, 1))
    expect(await read(at(366))).toEqual(at(366))
    expect(await read(at(0))).toMatchObject(issue('expiresAt', 'Use a time in the future.'))
    expect(await read(at(-1))).toMatchObject(issue('expiresAt', 'Use a time in the future.'))
    expect(await read(at(366, 1))).toMatchObject(issue('expiresAt', 'A token can be valid for at most 366 days.'))
    expect(await read(at(5, 1), { maxDays: 5 })).toMatchObject(issue('expiresAt', 'A token can be valid for at most 5 days.'))
  })

  it('is a time', async () => {
    for (const value of ['2026-12-01', 1, true, {}, new Date(Number.NaN)])
      expect(await read(value)).toMatchObject(issue('expiresAt', 'Use a time in ISO 8601.'))
  })

  it('can be none only if the app allows it, for a maker that never expires', async () => {
    expect(await read(null)).toMatchObject(issue('expiresAt', 'A token must expire, after at most 366 days.'))
    expect(await read(null, { allowNoExpiry: true })).toBeNull()
    expect(await read(null, { allowNoExpiry: true }, null)).toBeNull()
    expect(await read(null, { allowNoExpiry: true }, at(3))).toEqual(expect.objectContaining(outlives))
    expect(await read(null, {}, at(3))).toMatchObject(issue('expiresAt', /must expire/))
  })

  it('is not after that of its maker', async () => {
    expect(await read(at(3), {}, at(3))).toEqual(at(3))
    expect(await read(at(3, 1), {}, at(3))).toEqual(expect.objectContaining(outlives))
    expect(await read(at(3), {}, null)).toEqual(at(3))
  })

  it('has passed from its millisecond on', async () => {
    expect(await outcome(() => assertNotExpired(row({ expiresAt: at(0, 1) })))).toBeUndefined()
    expect(await outcome(() => assertNotExpired(row({ expiresAt: null })))).toBeUndefined()
    expect(await outcome(() => assertNotExpired(row({ expiresAt: at(0) })))).toMatchObject({ code: 'CONFLICT' })
  })
})

describe('a credential', () => {
  it('without limits can change every token', async () => {
    expect(await outcome(() => assertWithin(row({}), undefined))).toBeUndefined()
  })

  it('can change a token that grants no more and ends no later', async () => {
    const check = (columns: Partial<TokenRow>, limits: Maker) => outcome(() => assertWithin(row(columns), limits))
    const refused = expect.objectContaining({ code: 'FORBIDDEN', message: 'This token grants more than the token of the request.' })
    expect(await check({ scopes: ['a'] }, maker(['a', 'b']))).toBeUndefined()
    expect(await check({ scopes: [] }, maker([]))).toBeUndefined()
    expect(await check({ scopes: ['a', 'b'] }, maker(['a']))).toEqual(refused)
    expect(await check({ scopes: ['b', 'a'] }, maker(['a']))).toEqual(refused)
    expect(await check({ scopes: null }, maker(['a']))).toEqual(refused)
    expect(await check({ scopes: ['a'], expiresAt: at(3) }, maker(['a'], at(3)))).toBeUndefined()
    expect(await check({ scopes: ['a'], expiresAt: at(3, 1) }, maker(['a'], at(3)))).toEqual(refused)
    expect(await check({ scopes: ['a'], expiresAt: null }, maker(['a'], at(3)))).toEqual(refused)
    expect(await check({ scopes: ['a'], expiresAt: at(3) }, maker(['a'], null))).toBeUndefined()
  })
})

describe('a secret', () => {
  const kind = (columns: Partial<TokenRow>, hash: string) => secretOf(row(columns), hash, NOW)

  it('is the current one, or the one before during the grace period', () => {
    expect(kind({}, 'current')).toBe('current')
    expect(kind({}, 'other')).toBeUndefined()
    expect(kind({ previousHash: 'old', previousUntil: at(0, 1) }, 'old')).toBe('previous')
    expect(kind({ previousHash: 'old', previousUntil: at(0) }, 'old')).toBeUndefined()
    expect(kind({ previousHash: 'old', previousUntil: null }, 'old')).toBeUndefined()
    expect(kind({ previousHash: 'old', previousUntil: at(1) }, 'other')).toBeUndefined()
    expect(kind({ previousHash: 'old', previousUntil: at(1) }, 'current')).toBe('current')
  })

  it('is invalid if the token has expired or was deleted', () => {
    for (const hash of ['current', 'old']) {
      const previous = { previousHash: 'old', previousUntil: at(1) }
      expect(kind({ ...previous, expiresAt: at(0) }, hash)).toBeUndefined()
      expect(kind({ ...previous, expiresAt: at(0, 1) }, hash)).toBeDefined()
      expect(kind({ ...previous, deletedAt: at(-1) }, hash)).toBeUndefined()
      expect(kind({ ...previous, deletedAt: null }, hash)).toBeDefined()
    }
  })
})
