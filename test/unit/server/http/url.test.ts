/** The segments of a path below the prefix are those that middleware of the app and the router see. */
import { describe, expect, it } from 'vitest'
import { segmentsBelow, sentUrl } from '../../../../src/runtime/server/http/url'

/** @param path the path of the event. A check of the app reads it. */
const segmentsOf = (sent: string, path = sent, prefix = '/api') => {
  const event = { path, node: { req: { originalUrl: sent, headers: {} } } }
  return segmentsBelow(prefix, event, sentUrl(event))
}

describe('the segments below the prefix', () => {
  it.each([
    ['/api/posts', ['posts']],
    ['/api/posts/1/', ['posts', '1']],
    ['/api', []],
    ['/api/', []],
    ['/api/posts?x=/a/b', ['posts']],
  ])('are those of the path: %s', (sent, segments) => {
    expect(segmentsOf(sent)).toEqual(segments)
  })

  it('are encoded as the client sent them, except for the first one', () => {
    expect(segmentsOf('/%61pi/p%6fsts/a%2Cb?x=%2C', '/api/posts/a,b?x=%2C')).toEqual(['posts', 'a%2Cb'])
    expect(segmentsOf('/sh%6fp/api/p%6fsts/%31', '/shop/api/posts/1', '/shop/api')).toEqual(['posts', '%31'])
    expect(segmentsOf('/shop/api/p%6fsts/1', '/api/posts/1')).toEqual(['posts', '1'])
  })

  it('are decoded nowhere else than in the path of the event, which a check of the app reads', () => {
    // h3 decodes no path with an escape that is not valid.
    expect(segmentsOf('/api/p%6fsts/%c0')).toEqual(['p%6fsts', '%c0'])
    expect(segmentsOf('/api/p%256fsts/%31', '/api/p%256fsts/1')).toEqual(['p%256fsts', '%31'])
  })

  it('are empty where the path has two slashes, because a check of the app sees both', () => {
    expect(segmentsOf('/api//posts/titles')).toEqual(['', 'posts', 'titles'])
    expect(segmentsOf('/api/posts//titles')).toEqual(['posts', '', 'titles'])
    expect(segmentsOf('/api//p%6fsts', '/api//posts')).toEqual(['', 'p%6fsts'])
    expect(segmentsOf('/api/posts//')).toEqual(['posts', ''])
    expect(segmentsOf('/api//')).toEqual([''])
  })
})
