/** The saved views of a list: their order, and which of them a URL shows. */
import { describe, expect, it } from 'vitest'
import { isSameQuery, keptQuery, moveEntry, placeEntry, saveEntry } from '../../../src/runtime/admin/model/view-order'
import { clampWidth, toWidths } from '../../../src/runtime/admin/model/widths'

describe('the query of a view', () => {
  it('has what describes a list, without its page and an open record', () => {
    expect(keptQuery({ sort: '-id', filter: ['a:$eq:1', 'b:$eq:2'], q: '', limit: null, page: '3', open: '7', cursor: 'x' }))
      .toEqual({ sort: '-id', filter: ['a:$eq:1', 'b:$eq:2'] })
    expect(keptQuery({ filter: [], page: '2' })).toEqual({})
  })

  it.each([
    ['one filter as text or as a list', { filter: 'a:$eq:1' }, { filter: ['a:$eq:1'] }, true],
    ['filters in another order', { filter: ['a:$eq:1', 'b:$eq:2'] }, { filter: ['b:$eq:2', 'a:$eq:1'] }, true],
    ['another page', { q: 'x' }, { q: 'x', page: '2' }, true],
    ['another value', { filter: 'a:$eq:1' }, { filter: 'a:$eq:2' }, false],
    ['another sort', { sort: 'id' }, { sort: '-id' }, false],
    ['another search', {}, { q: 'x' }, false],
    ['alternatives to another filter', { filter: ['a:$eq:1', 'b:$eq:2', 'or:c:$eq:3'] },
      { filter: ['b:$eq:2', 'a:$eq:1', 'or:c:$eq:3'] }, false],
  ])('is compared with a URL: %s', (_, view, url, expected) => {
    expect(isSameQuery(view, url)).toBe(expected)
  })
})

describe('the order of views', () => {
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  const all = [a, b, c]
  const names = (views: readonly { readonly name: string }[]) => views.map(({ name }) => name).join('')

  it.each([
    [a, 1, 'bac'], [c, -1, 'acb'], [a, -1, 'abc'], [c, 1, 'abc'], [a, 5, 'bca'],
  ] as const)('moves %o by %i', (view, step, expected) => {
    expect(names(moveEntry(all, view, step))).toBe(expected)
  })

  it.each([[a, 2, 'bca'], [c, 0, 'cab'], [b, 1, 'abc']] as const)('puts %o at place %i', (view, place, expected) => {
    expect(names(placeEntry(all, view, place))).toBe(expected)
  })

  it('ignores a view that is gone', () => {
    expect([names(moveEntry(all, { name: 'a' }, 1)), names(placeEntry(all, { name: 'x' }, 0))]).toEqual(['abc', 'abc'])
  })

  it('keeps the place of a view that is saved again', () => {
    const again = { name: 'b', columns: ['id'] }
    expect(saveEntry(all, again)).toEqual([a, again, c])
    expect(names(saveEntry(all, { name: 'd' }))).toBe('abcd')
  })
})

describe('the widths of columns', () => {
  it('are read from a cookie that can contain anything', () => {
    expect(toWidths({ title: 200.4, narrow: 1, wide: 99_999, text: '10', none: null, broken: Number.NaN }))
      .toEqual({ title: 200, narrow: 64, wide: 960 })
    expect([null, undefined, 'a', 1, [100]].map(toWidths)).toEqual([{}, {}, {}, {}, {}])
    expect(clampWidth(100.6)).toBe(101)
  })
})
