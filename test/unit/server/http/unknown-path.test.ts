/** The 404 of a path below the prefix that nothing handles: its message, and the paths that belong to pages. */
import { describe, expect, it } from 'vitest'
import { canBePage, explainUnknownPath, isBelowPrefix, isUnmatchedPage, unknownPath } from '../../../../src/runtime/server/http/unknown-path'
import { DEFAULT_CONFIG } from '../../../../src/runtime/shared/defaults'

const known = (names: readonly string[], appRoutes: readonly string[] = []) =>
  ({ config: DEFAULT_CONFIG, appRoutes, resources: new Map(names.map(name => [name, {}])) })

const explain = (path: string, names = ['posts', 'comments'], appRoutes: readonly string[] = []) =>
  explainUnknownPath('GET', path.split('/'), known(names, appRoutes))

describe('the message in development', () => {
  it('names the closest resource and all others', () => {
    expect(explain('post')).toBe('`post` is not a registered resource. Did you mean `posts`? Registered: `posts`, `comments`.')
    expect(explain('users/1')).toBe('`users` is not a registered resource. Registered: `posts`, `comments`.')
  })

  it('says how to register the first resource', () => {
    expect(explain('post', [])).toBe('`post` is not a registered resource. No resource is registered. Create `server/resources/<name>.ts`.')
  })

  it.each([['posts/1/nothing'], ['_nothing'], ['hello/world'], ['']])(
    'names the path if its first segment is no resource to register: %s',
    (path) => {
      expect(explain(path, ['posts'], ['POST /hello', ' /shop/:'])).toBe(`There is no route \`GET /api/${path}\`.`)
    },
  )

  it('lists at most 30 resources, and at most some characters of the path', () => {
    expect(explain('x', Array.from({ length: 200 }, (_, index) => `table${index}`)).match(/`table\d+`/g)).toHaveLength(30)
    const text = explain(`${'x'.repeat(5000)}\`\u001B[31m\n`)
    expect(text.length).toBeLessThan(300)
    expect(text).toMatch(/^[\x20-\x7E]+$/)
  })
})

it('has no names outside of development', () => {
  const { message, status, data } = unknownPath({ path: '/api/post', method: 'GET' }, { ...known(['posts']), mountPath: '/api' } as never)
  expect([message, status, data]).toEqual(['There is no such route.', 404, { code: 'NOT_FOUND' }])
})

describe('a path below the prefix', () => {
  it.each([
    ['/api/post', true],
    ['/shop/api/post', true],
    ['/api/', false],
    ['/api', false],
    ['/apis/post', false],
    ['/?x=/api/post', false],
    ['/api?x=/api/post', false],
  ])('%s: %s', (path, expected) => {
    expect(isBelowPrefix({ path }, { config: DEFAULT_CONFIG, mountPath: '/shop/api' })).toBe(expected)
  })
})

describe('a path of a page', () => {
  it.each<[pages: string[], path: string, expected: boolean]>([
    [[], '/api/guide', false],
    [['/api/guide'], '/api/guide', true],
    [['/api/guide'], '/API/%67uide/?x=1', true],
    [['/api/guide'], '/api/guide/_payload.json?x', true],
    [['/api/guide'], '/api/guides', false],
    [['/api/guide'], '/api/guide/1', false],
    [['/api/docs/*'], '/api/docs', true],
    [['/api/docs/*'], '/api/docs/a/b', true],
    [['/api/docs/*'], '/api/docsx', false],
    [['/*'], '/api/post', true],
    [['/api/guide'], '/api/%', false],
  ])('%j: %s → %s', (pages, path, expected) => {
    expect(canBePage({ path }, pages)).toBe(expected)
  })
})

it.each<[error: object, expected: boolean]>([
  [{ statusCode: 404, message: 'Page not found: /api/post' }, true],
  [{ status: 404, statusText: 'Page not found: /api/post', message: '' }, true],
  [{ statusCode: 404, message: 'There is no such record.' }, false],
  [{ statusCode: 500, message: 'Page not found: /api/post' }, false],
])('recognizes Nuxt\'s error of a missing page: %j → %s', (error, expected) => {
  expect(isUnmatchedPage(error)).toBe(expected)
})
