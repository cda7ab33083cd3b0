/** Checks the differences between the two versions of Nitro. */
import { describe, expect, it } from 'vitest'
import { nitroVersionOf } from '../../../src/build/compat'

describe.each([
  {
    nuxt: 4,
    isNuxt4: true,
    h3: 'h3',
    storage: 'nitropack/runtime/storage',
    runtimeConfig: 'nitropack/runtime/config',
    types: 'nitropack/types',
    before: { externals: { inline: ['other'] } },
    after: { externals: { inline: ['other', '/runtime'] } },
    first: { externals: { inline: ['/runtime'] } },
  },
  {
    nuxt: 5,
    isNuxt4: false,
    h3: 'nitro/h3',
    storage: 'nitro/storage',
    runtimeConfig: 'nitro/runtime-config',
    types: 'nitro/types',
    before: { noExternals: ['other'] },
    after: { noExternals: ['other', '/runtime'] },
    first: { noExternals: ['/runtime'] },
  },
])('Nuxt $nuxt', ({ isNuxt4, h3, storage, runtimeConfig, types, before, after, first }) => {
  it(`finds h3 in ${h3}`, () => {
    expect(nitroVersionOf(isNuxt4).h3).toBe(h3)
  })

  it(`finds Nitro's storages in ${storage}`, () => {
    expect(nitroVersionOf(isNuxt4).storage).toBe(storage)
  })

  it(`reads the runtime configuration from ${runtimeConfig}`, () => {
    expect(nitroVersionOf(isNuxt4).runtimeConfig).toBe(runtimeConfig)
  })

  it(`finds the types of routes in ${types}`, () => {
    expect(nitroVersionOf(isNuxt4).types).toBe(types)
  })

  it('bundles the runtime in addition to what is already bundled', () => {
    const options = structuredClone(before)
    nitroVersionOf(isNuxt4).bundle(options, '/runtime')
    expect(options).toEqual(after)

    const none = {}
    nitroVersionOf(isNuxt4).bundle(none, '/runtime')
    expect(none).toEqual(first)
  })
})

it.each([true, false])('bundles what a pattern matches too: Nuxt 4 %s', (isNuxt4) => {
  const options: { externals?: { inline?: unknown[] }, noExternals?: unknown[] } = {}
  const { bundle } = nitroVersionOf(isNuxt4)
  bundle(options as never, '/runtime')
  bundle(options as never, /^drizzle-orm/)
  expect(options.externals?.inline ?? options.noExternals).toEqual(['/runtime', /^drizzle-orm/])
})

it('does not change a Nitro 3 that bundles everything', () => {
  const options = { noExternals: true }
  nitroVersionOf(false).bundle(options, '/runtime')
  expect(options).toEqual({ noExternals: true })
})

it('does not let Nitro 3 bundle every package below the folder of this package', () => {
  const options = { noExternals: ['/app/node_modules/nuxt-auto-api', '/app/', '/app/node_modules/nuxt', /other/] }
  nitroVersionOf(false).bundle(options, '/app/node_modules/nuxt-auto-api/dist/runtime')
  expect(options.noExternals).toEqual(['/app/node_modules/nuxt', /other/, '/app/node_modules/nuxt-auto-api/dist/runtime'])
})

it.each([
  [true, '/shop/', ''], [false, '/shop/', '/shop'], [false, '/', ''], [false, './', ''], [false, undefined, ''],
])('knows whether the path of an event contains the base URL: Nuxt 4 %s, %s', (isNuxt4, baseURL, expected) => {
  expect(nitroVersionOf(isNuxt4).eventBase({ baseURL })).toBe(expected)
})
