/** Different values of a context have different text, so that they have different stored responses. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encode, NotPlainError } from '../../../src/runtime/plugins/response-cache/server/encode'

const scalar = fc.constantFrom<unknown>(
  undefined,
  null,
  true,
  false,
  0,
  -0,
  1,
  NaN,
  Infinity,
  1n,
  'a',
  '',
  'u',
  'null',
  '1',
  '[1]',
  '"',
  '\\',
  '\uD800',
  '\\uD800',
  new Date(0),
  new Date(1),
)
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '', '1'), tie('value'), { maxKeys: 3 }),
  ),
}))
const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : typeof value === 'object' && value !== null && !(value instanceof Date)
      ? Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, plain(entry)]))
      : value

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

const nested = (depth: number, leaf: unknown): unknown => depth === 0 ? leaf : [nested(depth - 1, leaf)]
const named = (depth: number, leaf: unknown): unknown => depth === 0 ? leaf : { a: named(depth - 1, leaf) }
/** A name that JSON leaves out. */
const hidden = (value: object) => Object.defineProperty(value, 'admin', { value: true })

it('values that JSON writes in the same way have different text', () => {
  const lists: unknown[][] = [
    [0],
    [-0],
    [null],
    [undefined],
    [Number.NaN],
    [Infinity],
    [-Infinity],
    ['null'],
    [1],
    [1n],
    ['1'],
    [true],
    ['true'],
    [false],
    [new Date(0)],
    [new Date(0).toISOString()],
    [new Date(1)],
    [{}],
    [[]],
    [[[]]],
    [[{}]],
    [{ a: 1 }],
    [{ a: 1n }],
    [{ a: '1' }],
    [{ a: undefined }],
    [{ a: null }],
    [{ a: -0 }],
    [{ b: 1 }],
    [{ a: 1, b: 1 }],
    [[1, 2]],
    [[1], 2],
    [[1n, 2]],
    [[1n], 2],
    ['a', 'b'],
    ['ab'],
    ['', 'ab'],
    ['ab', ''],
    [['a', 1n]],
    [['a1', 1n]],
    [{ a: 1n, b: 't' }],
    [{ a: 1n, bt: '' }],
    [true, 1n],
    [false, 1n],
    ['t', 1n],
    [undefined, 1n],
    [null, 1n],
    ['u', 1n],
    ['z', 1n],
    // Besides a bigint, no value is written as JSON.
    ...['1', 1, 1n, 2n, 0n, 0, -0, Number.NaN, 'NaN', false, '', ';', 'f', [], {}].map(value => [1n, value]),
    ['a;x1', 1n],
    [1, 1n],
  ]
  const texts = lists.map(list => encode(list))
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  expect(lists.map(list => encode(list))).toEqual(texts)
})

it('values of an object without a prototype have the text of any object', () => {
  expect(encode([Object.assign(Object.create(null) as object, { a: 1 })])).toBe(encode([{ a: 1 }]))
  expect(encode([Object.assign(Object.create(null) as object, { a: 1n })])).toBe(encode([{ a: 1n }]))
})

it.each<[what: string, value: unknown]>([
  [
    'an instance of a class',
    new (class {
      id = 1
    })(),
  ],
  ['a map', new Map()],
  ['a function', () => 1],
  ['a symbol', Symbol('a')],
  ['bytes', new Uint8Array(1)],
  ['a list of a class', new (class extends Array<number> {})(1)],
  ['an object that inherits', Object.create({ admin: true })],
  ['a hidden name', hidden({ id: 1 })],
  ['a hidden name besides a bigint', hidden({ id: 1n })],
  ['a name that is a symbol', { [Symbol('admin')]: true }],
  ['a date with a name', Object.assign(new Date(0), { admin: true })],
  ['a date of a class', new (class extends Date {})(0)],
  ['a list with a symbol', Object.assign([1n], { [Symbol('admin')]: true })],
  ['a list with a hidden name', hidden([1])],
  ['51 lists', nested(51, 1)],
  ['51 lists around a bigint', nested(51, 1n)],
  ['51 objects', named(51, 1)],
  ['51 objects around a bigint', named(51, 1n)],
])('%s has no text, wherever it is', (_what, value) => {
  for (const values of [[value], [1n, value], [[value]], [{ a: value }], [{ a: 1n, b: value }]])
    expect(() => encode(values)).toThrow(NotPlainError)
})

it('50 levels have text, the list of all values included', () => {
  for (const nest of [nested, named]) {
    expect(encode([nest(49, 1)])).not.toBe(encode([nest(48, 1)]))
    expect(encode([nest(48, 1n)])).not.toBe(encode([nest(47, 1n)]))
    expect(() => encode([nest(50, 1)])).toThrow(NotPlainError)
    expect(() => encode([nest(49, 1n)])).toThrow(NotPlainError)
  }
})
