import { describe, expect, it } from 'vitest'
import { filterRequests, hasFailed } from '../../../src/runtime/devtools/requests'
import type { RecordedRequest } from '../../../src/runtime/shared/devtools'

const request = (id: number, parts: Partial<RecordedRequest>): RecordedRequest => ({
  id, at: 0, method: 'GET', path: '/api/posts', resource: 'posts', operation: 'read', status: 200, duration: 1, statements: [], ...parts,
})

const REQUESTS = [
  request(4, { method: 'PATCH', path: '/api/posts/7', operation: 'update', status: 403, code: 'FORBIDDEN', rule: 'posts: update' }),
  request(3, { path: '/api/comments?sort=-id', resource: 'comments', cache: 'hit' }),
  request(2, { status: undefined, code: 'INTERNAL' }),
  request(1, { status: undefined }),
]

const found = (text: string, errorsOnly = false) => filterRequests(REQUESTS, { text, errorsOnly }).map(({ id }) => id)

describe('the filter of requests', () => {
  it.each([
    ['', [4, 3, 2, 1]],
    ['patch', [4]],
    ['SORT=-', [3]],
    ['403', [4]],
    ['forbidden', [4]],
    ['posts: update', [4]],
    ['comments hit', [3]],
    ['hit   comments', [3]],
    ['comments patch', []],
    ['undefined', []],
  ])('finds requests that contain every word: %j', (text, ids) => {
    expect(found(text)).toEqual(ids)
  })

  it('shows errors only, in the same order', () => {
    expect(found('', true)).toEqual([4, 2])
    expect(found('get', true)).toEqual([2])
  })
})

it.each([[{ status: 200 }, false], [{ status: 304 }, false], [{ status: 400 }, true], [{ code: 'X' }, true], [{}, false]])(
  'a request has failed with an error status or a code: %j, %s',
  (response, failed) => {
    expect(hasFailed(response)).toBe(failed)
  },
)
