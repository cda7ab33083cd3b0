/** The paths of the admin: every view has one path, and every other path has no view. */
import fc from 'fast-check'
import { createMemoryHistory, createRouter, type RouteRecordRaw } from 'vue-router'
import { describe, expect, it } from 'vitest'
import { isPlainPath, parseSegments, toSegments, type AdminView } from '../../../src/runtime/admin/routes'

const ALL = { capabilities: { canCreate: true, canViewDeleted: true } }
const KNOWN = {
  resources: { posts: ALL, constructor: ALL },
  pages: [{ path: '/reports' }, { path: '/reports/weekly' }, { path: '/~x' }],
  tools: ['tokens', 'audit', 'activity', 'permissions'],
}
const parse = (...segments: string[]) => parseSegments(segments, KNOWN)

const record = (id: string): AdminView => ({ name: 'record', resource: 'posts', id })

const PATHS: readonly (readonly [path: string, view: AdminView])[] = [
  ['', { name: 'overview' }],
  ['/posts', { name: 'list', resource: 'posts' }],
  ['/constructor', { name: 'list', resource: 'constructor' }],
  ['/posts/new', { name: 'create', resource: 'posts' }],
  ['/posts/trash', { name: 'trash', resource: 'posts' }],
  ['/posts/7', record('7')],
  ['/posts/~new', record('new')],
  ['/posts/~trash', record('trash')],
  ['/posts/~.', record('.')],
  ['/posts/~..', record('..')],
  ['/posts/~~', record('~')],
  ['/posts/~', record('')],
  ['/posts/a%2Fb', record('a/b')],
  ['/posts/1%2C%252C', record('1,%2C')],
  ['/-/tokens', { name: 'tool', tool: 'tokens' }],
  ['/-/audit', { name: 'tool', tool: 'audit' }],
  ['/-/activity', { name: 'tool', tool: 'activity' }],
  ['/-/permissions', { name: 'tool', tool: 'permissions' }],
  ['/reports', { name: 'page', path: '/reports' }],
  ['/reports/weekly', { name: 'page', path: '/reports/weekly' }],
  ['/~x', { name: 'page', path: '/~x' }],
]

const component = { render: () => null }
const routes: RouteRecordRaw[] = [{ path: '/admin/:path(.*)*', component }, { path: '/:other(.*)*', component }]
const router = createRouter({ history: createMemoryHistory(), routes })

/** The view of a path, as the browser and the router read it. */
function open(path: string): AdminView | undefined {
  const { pathname } = new URL(`/admin${path}`, 'http://localhost')
  const { params } = router.resolve(pathname)
  return parseSegments([params.path ?? []].flat(), KNOWN)
}

describe('a path of the admin', () => {
  it.each(PATHS)('%s shows %o', (path, view) => {
    expect(toSegments(view)).toBe(path)
    expect(open(path)).toEqual(view)
  })

  it('shows the same view with a slash at the end', () => {
    expect([open('/'), open('/posts/'), open('/posts/7/')]).toEqual([
      { name: 'overview' },
      { name: 'list', resource: 'posts' },
      record('7'),
    ])
  })

  it.each([
    ['nothing'],
    ['toString'],
    ['Posts'],
    ['posts', '7', 'more'],
    ['posts', '', 'x'],
    ['-'],
    ['-', 'other'],
    ['-', 'tokens', 'x'],
    ['', 'posts'],
    ['reports', 'daily'],
    ['reports', 'weekly', 'x'],
    ['REPORTS'],
  ])('has no view: %s/%s/%s', (...segments) => {
    expect(parse(...segments.filter(segment => segment !== undefined))).toBeUndefined()
  })

  it('has no view if the caller cannot open it', () => {
    const limited = {
      resources: { posts: { capabilities: { canCreate: false, canViewDeleted: false } } },
      pages: [],
      tools: ['activity'] as const,
    }
    const views = PATHS.map(([path]) => parseSegments(path.split('/').slice(1), limited)?.name)
    expect(new Set(views)).toEqual(new Set(['overview', 'list', 'record', 'tool', undefined]))
    expect([['posts', 'new'], ['posts', 'trash']].map(segments => parseSegments(segments, limited))).toEqual([undefined, undefined])
  })

  it('is found again for every id of a record', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (id) => {
      expect(open(toSegments(record(id)))).toEqual(record(id))
    }))
  })
})

describe('the spelling of a path', () => {
  const isPlain = (path: string, ...segments: string[]) => isPlainPath(path, '/back-office/:path(.*)*', segments)

  it.each([
    ['/back-office'], ['/back-office/'], ['/back-office/samples', 'samples'], ['/back-office/samples/a%2Fb', 'samples', 'a/b'],
    ['/back-office/-/permissions', '-', 'permissions'], ['/back-office/größe', 'größe'], ['/back-office/gr%C3%B6%C3%9Fe', 'größe'],
  ])('is that of the admin: %s', (path, ...segments) => {
    expect(isPlain(path, ...segments)).toBe(true)
  })

  it.each([
    ['/BACK-OFFICE'], ['/Back-office/samples', 'samples'], ['/back-office/s%61mples', 'samples'], ['/back-office/s%61mples/%c0', 'samples', '%c0'],
  ])('is another one, which a check of the path does not see: %s', (path, ...segments) => {
    expect(isPlain(path, ...segments)).toBe(false)
  })
})
