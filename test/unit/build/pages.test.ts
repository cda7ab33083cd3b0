/** The pages that the app can have below the prefix: the API leaves their paths to Nuxt. */
import { describe, expect, it } from 'vitest'
import { findPagesBelow } from '../../../src/build/pages'

describe('the pages below the prefix', () => {
  it.each<[paths: string[], found: string[]]>([
    [['/', '/about', '/apis', '/api', '/docs/:slug(.*)*', '/blog/api/x'], []],
    [['/api/guide', '/API/Intro'], ['/api/guide', '/api/intro']],
    [['/api/docs/:slug(.*)*', '/api/docs/item-:id/edit', '/api/:id?'], ['/api/*', '/api/docs/*']],
    [['/:slug(.*)*'], ['/*']],
    [['/:locale(de|fr)?/about'], ['/*']],
    [['/ap:rest'], ['/*']],
  ])('%j → %j', (paths, found) => {
    expect(findPagesBelow(paths.map(path => ({ path })), '/api')).toEqual(found)
  })

  it('contain children and other paths of a page', () => {
    expect(findPagesBelow([
      { path: '/api', children: [{ path: '' }, { path: 'guide', children: [{ path: ':id()' }] }, { path: '/outside' }] },
      { path: '/manual', alias: ['/api/manual', '/m'], children: [{ path: 'intro' }] },
      { path: '/help', alias: '/api/help' },
    ], '/api')).toEqual(['/api/', '/api/guide', '/api/guide/*', '/api/help', '/api/manual', '/api/manual/intro'])
  })

  it('are below a prefix of several segments', () => {
    const pages = ['/data', '/data/:year', '/data/v1/guide', '/data/v2/guide'].map(path => ({ path }))
    expect(findPagesBelow(pages, '/Data/v1')).toEqual(['/data/*', '/data/v1/guide'])
  })
})
