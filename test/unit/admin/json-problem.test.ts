import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonProblem } from '../../../src/runtime/admin/model/json-problem'

describe('the place of a problem in JSON', () => {
  it.each([
    ['{ "a": [1 }', 1, 11],
    ['{\n  "a": 1,\n  b: 2\n}', 3, 3],
    ['{ "a": 1, }', 1, 11],
    ['[1, 2', 1, 6],
    ['[1, 2]]', 1, 7],
    ['{ "a" 1 }', 1, 7],
    ['"unfinished', 1, 1],
    ['{ "a": "line\nbreak" }', 1, 8],
    ['', 1, 1],
    ['[1,\n,2]', 2, 1],
    ['nul', 1, 1],
    ['01', 1, 2],
  ])('of %j is line %i, column %i', (text, line, column) => expect(findJsonProblem(text)).toEqual({ line, column }))

  it('is nowhere in JSON, whatever its depth', () => {
    fc.assert(fc.property(fc.json(), text => findJsonProblem(text) === undefined))
    expect(findJsonProblem('['.repeat(50_000))).toEqual({ line: 1, column: 50_001 })
  })
})
