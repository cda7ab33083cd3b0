/** The query of a request equals what `URLSearchParams` reads, also where a faster way reads it. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseQuery } from '../../../../src/runtime/server/http/url'

const piece = fc.constantFrom(
  'a',
  'b',
  'limit',
  '__proto__',
  '=',
  '&',
  '&&',
  '?',
  '+',
  '%20',
  '%',
  '%zz',
  '[x]',
  '{"a":1}',
  ',',
  '#',
  ' ',
  'é',
  '\u0000',
)

it('reads every query string as URLSearchParams does', () => {
  fc.assert(fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
    const text = `?${pieces.join('')}`
    const expected = new Map<string, string[]>()
    for (const [name, value] of new URLSearchParams(text)) expected.set(name, [...expected.get(name) ?? [], value])
    expect(Object.entries(parseQuery(text)).map(([name, value]) => [name, [value].flat()])).toEqual([...expected])
  }), { numRuns: 5_000 })
})
