/** The form of a token: what is one, and what only looks like one. */
import { createHash, randomBytes } from 'node:crypto'
import { crc32 as expectedCrc32 } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { crc32, createTokenFormat, hashToken, toBase62 } from '../../../src/runtime/plugins/api-tokens/server/format'

afterEach(() => vi.restoreAllMocks())

const format = createTokenFormat('aat')
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const fromBase62 = (text: string) => [...text].reduce((number, character) => number * 62n + BigInt(ALPHABET.indexOf(character)), 0n)

describe('base62', () => {
  it.each([
    [0n, 1, '0'],
    [0n, 3, '000'],
    [9n, 1, '9'],
    [10n, 1, 'A'],
    [35n, 1, 'Z'],
    [36n, 1, 'a'],
    [61n, 1, 'z'],
    [62n, 2, '10'],
    [3843n, 4, '00zz'],
  ])('writes %s in %s characters as %s', (number, length, text) => {
    expect(toBase62(number, length)).toBe(text)
  })
})

describe('the checksum', () => {
  it('is the CRC-32 that zip files use', () => {
    expect(crc32('123456789')).toBe(0xCBF43926)
    for (let round = 0; round < 50; round++) {
      const text = randomBytes(round).toString('hex')
      expect(crc32(text)).toBe(expectedCrc32(text))
    }
  })
})

describe('a token', () => {
  it('has the prefix, all 256 random bits and the checksum', () => {
    for (const bytes of [new Uint8Array(32), new Uint8Array(32).fill(255), Uint8Array.from({ length: 32 }, (_, index) => index + 1)]) {
      vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
        (array as unknown as Uint8Array).set(bytes)
        return array
      })
      const token = format.create()
      expect(token).toMatch(/^aat_[0-9A-Za-z]{49}$/)
      expect(fromBase62(token.slice(4, 47))).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
      expect(fromBase62(token.slice(47))).toBe(BigInt(expectedCrc32(token.slice(0, 47))))
      expect(format.isValid(token)).toBe(true)
    }
  })

  it('is stored as its SHA-256 in hexadecimal digits', async () => {
    const token = format.create()
    expect(await hashToken(token)).toBe(createHash('sha256').update(token).digest('hex'))
  })

  it('is valid only as a whole', () => {
    const token = format.create()
    for (const text of [
      ` ${token}`,
      `${token} `,
      `${token}0`,
      `0${token}`,
      token.slice(1),
      token.slice(0, -1),
      token.replace('_', '-'),
      `${token}\n`,
      '',
    ])
      expect({ text, isValid: format.isValid(text) }).toEqual({ text, isValid: false })
  })

  it('is valid only with its checksum and its prefix', () => {
    const token = format.create()
    const last = token.at(-1) === '0' ? '1' : '0'
    expect(format.isValid(token.slice(0, -1) + last)).toBe(false)
    expect(createTokenFormat('acme').isValid(token)).toBe(false)
  })

  it('is recognized by its start, as its own', () => {
    expect(['aat_', 'aat_x', format.create()].map(format.isOwn)).toEqual([true, true, true])
    expect(['', 'aat', 'aatx_', 'xaat_', 'Aat_x', ' aat_x'].map(format.isOwn)).toEqual([false, false, false, false, false, false])
  })

  it('is found in a text, unless letters or digits around it make it something else', () => {
    const token = format.create()
    for (const text of [token, `Token ${token}`, `${token}, x`, `/${token}/`, `"${token}"`, `_${token}_`])
      expect({ text, isIn: format.isIn(text) }).toEqual({ text, isIn: true })
    for (const text of [`x${token}`, `0${token}`, `Z${token}`, `${token}x`, `${token}9`, `${token}Z`, token.slice(0, -1), 'aat_', ''])
      expect({ text, isIn: format.isIn(text) }).toEqual({ text, isIn: false })
  })
})
