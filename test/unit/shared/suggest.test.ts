/** Checks the suggestions of "Did you mean". */
import { describe, expect, it } from 'vitest'
import { didYouMean, findClosest } from '../../../src/runtime/shared/suggest'

describe('a mistyped name', () => {
  const known = ['prefix', 'pagination.defaultLimit', 'pagination.maxLimit', 'multiTenancy.enabled']

  it.each([
    ['prefx', 'prefix'],
    ['preffix', 'prefix'],
    ['rpefix', 'prefix'],
    ['PREFIX', 'prefix'],
    ['pagination.defualtLimit', 'pagination.defaultLimit'],
    ['pagination.limitMax', 'pagination.maxLimit'],
    ['completelyDifferent', undefined],
    ['', undefined],
  ])('%s suggests %s', (typed, suggestion) => {
    expect(findClosest(typed, known)).toBe(suggestion)
  })

  it('suggests the closest of several candidates', () => {
    expect(findClosest('posts', ['ports', 'posts2', 'post'])).toBe('ports')
    expect(findClosest('tagz', ['tangz2', 'tags'])).toBe('tags')
  })

  it('counts two swapped letters as one edit', () => {
    expect(findClosest('tilte', ['title'])).toBe('title')
    expect(findClosest('itlte', ['title'])).toBeUndefined()
  })

  it('returns an empty text without a candidate', () => {
    expect(didYouMean('hooks', [])).toBe('')
    expect(didYouMean('prefx', known)).toBe(' Did you mean `prefix`?')
  })
})
