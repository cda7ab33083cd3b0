/** The links and addresses of the site of the docs. `test/package/docs-site.test.ts` generates it and visits its pages. */
import { describe, expect, it } from 'vitest'
import { listPages } from '../../build.docs'
import { resolveLink, toRoute } from '../../docs/site/links'
import { changeBody, changeLinks, type Body } from '../../docs/site/parse'
import { listRedirects } from '../../docs/site/redirects'
import { root } from '../support/once'

const files = listPages(root)
const routes = files.map(toRoute)
const REPOSITORY = 'https://example.com/repository'

describe('a link of a page', () => {
  it.each([
    ['4.errors.md#unknown_field', '/reference/errors#unknown_field'],
    ['../1.start/2.starters.md', '/start/starters'],
    ['../images/desk.png', '/images/desk.png'],
    ['#paging', '#paging'],
    ['https://nuxt.com/docs', 'https://nuxt.com/docs'],
    ['../../bench/app', `${REPOSITORY}/blob/main/bench/app`],
  ])('leads to a route, or to the repository: %s', (link, target) => {
    expect(resolveLink('3.reference/1.options.md', link, REPOSITORY)).toBe(target)
  })

  it('leads from the start page to a route', () => {
    expect(resolveLink('index.md', '4.plugins/7.live.md', '')).toBe('/plugins/live')
  })

  it('is plain text if it names a file of the repository, and the URL of the repository is not known', () => {
    const markdown = changeLinks('See [`the benchmark`](../../bench/app).', '5.concepts/2.performance.md', '')
    expect(markdown).toBe('See [`the benchmark`](nowhere:).')
    const body: Body = { value: [['p', {}, 'See ', ['a', { href: 'nowhere:' }, 'the benchmark']]] }
    changeBody(body)
    expect(body.value).toEqual([['p', {}, 'See ', ['span', {}, 'the benchmark']]])
  })
})

describe('a page', () => {
  it('keeps the links in its code', () => {
    const code = '`[x](1.options.md)`\n\n```md\n[x](1.options.md)\n```'
    expect(changeLinks(`[x](1.options.md) ${code}`, '3.reference/2.http.md', '')).toBe(`[x](/reference/options) ${code}`)
  })

  it('loses its title, which the layout shows, and has the anchors of GitHub', () => {
    const body: Body = {
      value: [['h1', { id: 'x' }, 'X'], ['h2', { id: 'who-asks' }, 'Who asks?'], ['h2', { id: '_404' }, '404 / ', ['code', {}, 'a_b']], ['h3', { id: 'who-asks-1' }, 'Who asks']],
      toc: { links: [{ id: 'who-asks' }, { id: '_404', children: [{ id: 'who-asks-1' }] }] },
    }
    changeBody(body)
    expect(body.value.map(node => (node[1] as { id: string }).id)).toEqual(['who-asks', '404--a_b', 'who-asks-1'])
    expect(body.toc!.links).toEqual([{ id: 'who-asks' }, { id: '404--a_b', children: [{ id: 'who-asks-1' }] }])
  })
})

describe('an old address', () => {
  it('leads to a page', () => {
    const redirects = listRedirects(files)
    expect(redirects).toMatchObject({ '/querying': '/reference/querying', '/edge': '/start/cloudflare', '/start': '/start/getting-started' })
    for (const [from, to] of Object.entries(redirects)) {
      expect(routes).toContain(to)
      expect(routes).not.toContain(from)
    }
  })

  it('is reported if its page has another name', () => {
    const renamed = files.map(file => file.replace('querying', 'lists'))
    expect(() => listRedirects(renamed)).toThrow('docs/site/redirects.ts: no page is named "querying". Add the page that replaces it to RENAMED.')
  })
})
