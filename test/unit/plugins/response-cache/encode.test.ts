/** Different values of a context have different text, so that they have different stored responses. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encode, NotPlainError } from '../../../../src/runtime/server/plugins/response-cache/encode'

const scalar = fc.constantFrom<unknown>(
  undefined, null, true, false, 0, -0, 1, NaN, Infinity, 1n, 'a', '', 'u', 'null', '1', '[1]', '"', '\\', '\uD800', '\\uD800', new Date(0), new Date(1),
)
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(fc.constantFrom('a', 'b', '', '1'), tie('value'), { maxKeys: 3 })),
}))
const plain = (value: unknown): unknown => Array.isArray(value)
  ? value.map(plain)
  : typeof value === 'object' && value !== null && !(value instanceof Date) ? Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, plain(entry)])) : value

const values = fc.array(value, { maxLength: 3 })

it('different values have different text', () => {
  fc.assert(fc.property(values, values, (one, other) => {
    if (encode(one) === encode(other)) expect(isDeepStrictEqual(plain(one), plain(other))).toBe(true)
    expect(encode(structuredClone(one))).toBe(encode(one))
  }), { numRuns: 5_000 })
  expect(new Set([[undefined, null], [null, undefined], [null, null], [undefined, undefined]].map(encode)).size).toBe(4)
})

it.each<[what: string, value: unknown]>([
  ['a hole', Object.assign([], { length: 1 })],
  ['a name besides the indexes', Object.assign([1], { admin: true })],
  ['a hole and a name', Object.assign([], { length: 1, admin: true })],
])('a list with %s has no text', (_what, list) => {
  expect(() => encode([list])).toThrow(NotPlainError)
})
