/** Conditions, ranges and names in headers, without a server: every form of them that RFC 9110 and RFC 6266 define. */
import { describe, expect, it } from 'vitest'
import { selectResponse } from '../../../src/runtime/plugins/file-upload/server/http/conditions'
import { contentDisposition } from '../../../src/runtime/plugins/file-upload/server/http/disposition'

const select = (headers: Readonly<Record<string, string>>, { method = 'GET', size = 10, etag = '"e"' } = {}) =>
  selectResponse(method, name => headers[name], etag, size)

describe('a range', () => {
  it.each<[string, ReturnType<typeof select>]>([
    ['bytes=0-0', { start: 0, end: 0 }], ['bytes=0-9', { start: 0, end: 9 }], ['bytes=3-5', { start: 3, end: 5 }],
    ['bytes=3-3', { start: 3, end: 3 }], ['bytes=9-', { start: 9, end: 9 }], ['bytes=0-', { start: 0, end: 9 }],
    ['bytes=8-99', { start: 8, end: 9 }], ['bytes=10-12', 'unsatisfiable'], ['bytes=10-', 'unsatisfiable'],
    ['bytes=-1', { start: 9, end: 9 }], ['bytes=-10', { start: 0, end: 9 }], ['bytes=-11', { start: 0, end: 9 }],
    ['bytes=-0', 'unsatisfiable'], ['BYTES=0-1', { start: 0, end: 1 }], ['bytes=  10-11  ', 'unsatisfiable'],
    ['bytes= 1-2 ', { start: 1, end: 2 }], ['bytes=12-34', 'unsatisfiable'], ['bytes=5-4', 'whole'], ['bytes=12-11', 'whole'],
    ['bytes=-', 'whole'], ['bytes=', 'whole'], ['bytes', 'whole'], ['', 'whole'], ['bytes=1', 'whole'], ['bytes=a-1', 'whole'],
    ['bytes=1-a', 'whole'], ['bytes=1-2,4-5', 'whole'], ['bytes=1-2 x', 'whole'], ['x bytes=1-2', 'whole'], ['items=1-2', 'whole'],
    ['bytes=1 -2', 'whole'], ['bytes=-1 ', { start: 9, end: 9 }], ['bytes= -1', { start: 9, end: 9 }], ['bytes=-1x', 'whole'],
    ['bytes=-12', { start: 0, end: 9 }], ['bytes=-1,-2', 'whole'], ['x bytes=-1', 'whole'], ['bytes=-1 x', 'whole'], ['bytes=--1', 'whole'],
  ])('%j of ten bytes selects %j', (range, selected) => expect(select({ range })).toEqual(selected))

  it('of a file without bytes cannot be sent', () => {
    for (const range of ['bytes=0-0', 'bytes=0-', 'bytes=-1', 'bytes=-0']) expect(select({ range }, { size: 0 })).toBe('unsatisfiable')
    expect(select({}, { size: 0 })).toBe('whole')
  })

  it('is ignored for other methods, and if the file is not the one that `If-Range` names', () => {
    expect(select({ range: 'bytes=0-1' }, { method: 'HEAD' })).toBe('whole')
    expect(select({ 'range': 'bytes=0-1', 'if-range': '"e"' })).toEqual({ start: 0, end: 1 })
    for (const tag of ['"f"', 'W/"e"', 'Sat, 22 Nov 2026 10:00:00 GMT', ''])
      expect(select({ 'range': 'bytes=0-1', 'if-range': tag })).toBe('whole')
  })
})

describe('a condition', () => {
  it.each<[string, ReturnType<typeof select>]>([
    ['"e"', 'whole'], ['*', 'whole'], ['"a", "e"', 'whole'], ['"e","a"', 'whole'], ['"f"', 'failed'], ['"a", "b"', 'failed'],
    ['W/"e"', 'failed'], ['', 'failed'], ['e', 'failed'], ['"ee"', 'failed'],
  ])('`If-Match: %s` selects %j', (tags, selected) => expect(select({ 'if-match': tags })).toBe(selected))

  it.each<[string, ReturnType<typeof select>]>([
    ['"e"', 'not-modified'], ['W/"e"', 'not-modified'], ['*', 'not-modified'], ['"a", W/"e"', 'not-modified'], ['"e","a"', 'not-modified'],
    ['"f"', 'whole'], ['', 'whole'], ['e', 'whole'], ['"a", "b"', 'whole'], ['"W/"e', 'whole'], ['"eW/"', 'whole'],
  ])('`If-None-Match: %s` selects %j', (tags, selected) => expect(select({ 'if-none-match': tags })).toBe(selected))

  it('compares tags of any length', () => {
    for (const etag of ['""', '"e"', '"e-_!~"', `"${'e'.repeat(64)}"`]) {
      expect(select({ 'if-none-match': etag }, { etag })).toBe('not-modified')
      expect(select({ 'if-none-match': `"x", ${etag}` }, { etag })).toBe('not-modified')
      expect(select({ 'if-match': etag }, { etag })).toBe('whole')
    }
  })

  it('is checked before a range, `If-Match` first', () => {
    expect(select({ 'if-match': '"f"', 'if-none-match': '"e"', 'range': 'bytes=0-1' })).toBe('failed')
    expect(select({ 'if-none-match': '"e"', 'range': 'bytes=0-1' })).toBe('not-modified')
    expect(select({ 'if-match': '"e"', 'if-none-match': '"f"', 'range': 'bytes=0-1' })).toEqual({ start: 0, end: 1 })
    expect(select({ 'if-none-match': '"e"' }, { method: 'HEAD' })).toBe('not-modified')
  })
})

describe('the name of a file in a header', () => {
  it.each([
    ['a photo.png', 'filename="a photo.png"'], ['~!#$&\'()*+-./:;<=>?@[]^_`{|}', 'filename="~!#$&\'()*+-./:;<=>?@[]^_`{|}"'],
    ['Küste.png', 'filename="K_ste.png"; filename*=UTF-8\'\'K%C3%BCste.png'],
    ['a"b.png', 'filename="a_b.png"; filename*=UTF-8\'\'a%22b.png'], ['a\\b.png', 'filename="a_b.png"; filename*=UTF-8\'\'a%5Cb.png'],
    ['100%.png', 'filename="100_.png"; filename*=UTF-8\'\'100%25.png'],
    ['a\r\nb: c', 'filename="a__b: c"; filename*=UTF-8\'\'a%0D%0Ab%3A%20c'],
    ['\x1F\x7F', 'filename="__"; filename*=UTF-8\'\'%1F%7F'], ['\'ü(*)', 'filename="\'_(*)"; filename*=UTF-8\'\'%27%C3%BC%28%2A%29'],
    ['\uD800', 'filename="_"; filename*=UTF-8\'\'%EF%BF%BD'], ['😀', 'filename="__"; filename*=UTF-8\'\'%F0%9F%98%80'],
  ])('%j is %s', (name, written) => {
    expect(contentDisposition('attachment', name)).toBe(`attachment; ${written}`)
    expect(contentDisposition('inline', name)).toBe(`inline; ${written}`)
  })
})
