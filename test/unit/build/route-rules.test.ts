/** Checks that no route rule caches a response of the API, which would be returned to other callers. */
import { describe, expect, it } from 'vitest'
import { findCachedPaths, type RouteRules } from '../../../src/build/route-rules'
import { toMessage } from '../../../src/build/problem'

const PATHS = ['/api/posts', '/api/posts/:id', '/api/posts/:id/relations/:relation', '/api/permissions', '/api/_m2m/detect/:name']

const pathsOf = (rules: RouteRules) => findCachedPaths(rules, PATHS, '/api').map(({ where }) => where)

describe('a route rule that would cache a response of the API', () => {
  it.each<[pattern: string, rule: Record<string, unknown>, key: string]>([
    ['/**', { swr: 60, cache: { swr: true, maxAge: 60 } }, 'swr'],
    ['/**', { prerender: true }, 'prerender'],
    ['/api/**', { cache: { maxAge: 10 } }, 'cache'],
    ['/api/**:rest', { cache: {} }, 'cache'],
    ['/api/*', { isr: true }, 'isr'],
    ['/api/:name', { isr: 60 }, 'isr'],
    ['/api/posts', { static: true }, 'static'],
    ['/api/posts/', { swr: true }, 'swr'],
    ['/api/posts/**', { swr: true }, 'swr'],
    ['/api/posts/1', { swr: true }, 'swr'],
    ['/api/posts/first-*', { swr: true }, 'swr'],
    ['/api/*/1', { swr: true }, 'swr'],
    ['/*/permissions', { swr: true }, 'swr'],
    ['/api/posts/*/relations/tags', { swr: true }, 'swr'],
    ['GET /api/posts', { swr: true }, 'swr'],
  ])('is found: %s %o', (pattern, rule, key) => {
    expect(pathsOf({ [pattern]: rule })).toEqual([`routeRules['${pattern}'].${key}`])
  })

  it.each<[title: string, rules: RouteRules]>([
    ['no rules', {}],
    ['another path', { '/blog/**': { swr: 60 }, '/': { prerender: true }, '/apis/**': { swr: 1 }, '/api/other/**': { swr: 1 } }],
    ['a longer path', { '/api/posts/1/2/3/4/5': { swr: 1 }, '/api/posts/*/comments': { swr: 1 } }],
    ['a file name that no path has', { '/api/*.json': { swr: 1 } }],
    [
      'rules that cache nothing',
      { '/api/**': { cors: true, headers: { 'x-a': '1' }, swr: false, cache: false, isr: false, prerender: false, static: false } },
    ],
    ['undefined', { '/api/**': undefined, '/**': { swr: undefined } }],
    ['a more specific rule that turns it off', { '/**': { swr: 1, cache: { swr: true } }, '/api/**': { swr: false, cache: false } }],
    ['the same rules in reverse order', { '/api/**': { swr: false, cache: false }, '/**': { swr: 1, cache: { swr: true } } }],
  ])('is not found in %s', (_, rules) => {
    expect(pathsOf(rules)).toEqual([])
  })

  it.each<[title: string, rules: RouteRules, path: string]>([
    ['only one record is excluded', { '/**': { swr: 1 }, '/api/posts/1': { swr: false } }, 'routeRules[\'/**\'].swr'],
    ['a less specific rule turns it off', { '/**': { swr: false }, '/api/posts': { swr: 1 } }, 'routeRules[\'/api/posts\'].swr'],
    [
      'the rule that Nitro derives stays on',
      { '/**': { swr: 1, cache: { swr: true } }, '/api/**': { swr: false } },
      'routeRules[\'/**\'].swr',
    ],
    ['another rule of the same path stays on', { '/**': { isr: true }, '/api/**': { swr: false, cache: false } }, 'routeRules[\'/**\'].isr'],
  ])('is found although %s', (_, rules, path) => {
    expect(pathsOf(rules)).toEqual([path])
  })

  it('is reported with its path and the rule that turns it off', () => {
    expect(findCachedPaths({ '/**': { swr: 60 }, '/api/posts': { cache: {} } }, PATHS, '/api').map(toMessage)).toEqual([
      '`routeRules[\'/**\'].swr` would cache the responses of `/api/posts` and return them to other callers. Turn it off for the API: `\'/api/**\': { cache: false, swr: false }`. → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#cached-routes',
      '`routeRules[\'/api/posts\'].cache` would cache the responses of `/api/posts` and return them to other callers. Remove it. → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#cached-routes',
    ])
  })
})
