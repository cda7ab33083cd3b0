/** The options of `responseCache`: which values are valid, which fail, and what applies without them. */
import { describe, expect, it } from 'vitest'
import { createModuleImport } from '../../../src/module'
import { responseCache, type ResponseCacheOptions } from '../../../src/runtime/plugins'
import { resolveCachePolicy } from '../../../src/runtime/plugins/response-cache/options'

const VALUES: Readonly<
  Record<keyof ResponseCacheOptions, { readonly valid: readonly unknown[], readonly invalid: readonly unknown[], readonly use: string }>
> = {
  ttl: { valid: [1, 86_400], invalid: [0, -1, 1.5, '60', 86_401, Infinity], use: 'a number of seconds, a positive integer up to 86400' },
  storage: {
    valid: ['redis', { getMount: () => {} }, createModuleImport('/app/storage', 'storage')],
    invalid: ['', 1, [], true],
    use: 'the name of a storage',
  },
  resources: { valid: [[], ['posts']], invalid: ['posts', [''], [1], {}, ['posts', 1]], use: 'a list of resources' },
  reads: {
    valid: [{}, { posts: [] }, { posts: ['teams'] }],
    invalid: [[], 'posts', { posts: 'teams' }, { posts: [''] }, { posts: [], teams: [1] }],
    use: 'an object of lists of resources by resource',
  },
  vary: { valid: [[], ['plan.name']], invalid: ['plan', [''], [1]], use: 'a list of keys of the context' },
  maxBytes: { valid: [1, 1e9], invalid: [0, -1, 0.5, '64mb'], use: 'a positive integer' },
}

describe.each(Object.entries(VALUES))('the option %s', (option, { valid, invalid, use }) => {
  it('accepts valid values', () => {
    for (const value of valid) expect(() => responseCache({ [option]: value }), JSON.stringify(value)).not.toThrow()
  })

  it('refuses other values, and says what is valid', () => {
    for (const value of invalid)
      expect(() => responseCache({ [option]: value }), JSON.stringify(value)).toThrow(
        new RegExp(`^\\[auto-api\\] \`responseCache\\.${option}\` is .*\\. Use ${use}`),
      )
  })
})

it('the defaults are those of the documentation', () => {
  expect(resolveCachePolicy({})).toEqual({ ttl: 60, storage: undefined, resources: undefined, reads: {}, vary: [], maxBytes: 67_108_864 })
  expect(resolveCachePolicy({ resources: ['posts', 'teams'] }).resources).toEqual(new Set(['posts', 'teams']))
})
