/** Checks the module in a loaded Nuxt: errors stop the build, the app's routes take precedence, and Nitro gets the generated modules. */
import { fileURLToPath } from 'node:url'
import { loadNuxt } from '@nuxt/kit'
import type { Nuxt } from '@nuxt/schema'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createModuleImport, type ModuleOptions, type ResourceRegistry } from '../../../src/module'

const cwd = fileURLToPath(new URL('../../fixtures/module-setup', import.meta.url))

interface LoadedNuxt extends Nuxt {
  _nitro: {
    options: {
      handlers: { route?: string, method?: string, handler: string }[]
      virtual: Record<string, string | (() => string)>
      alias: Record<string, string>
    }
  }
}

interface Overrides {
  dev?: boolean
  routeRules?: object
  nitro?: object
  autoApi?: ModuleOptions
  autoAdmin?: object
  /** Registers more, after the fixture's own. */
  extra?: (registry: ResourceRegistry) => void
}

let nuxt: LoadedNuxt | undefined

async function load(overrides: Overrides = {}): Promise<LoadedNuxt> {
  nuxt = await loadNuxt({ cwd, dev: overrides.dev, overrides: { ...overrides as object, logLevel: 'silent' } }) as unknown as LoadedNuxt
  return nuxt
}

afterEach(async () => {
  await nuxt?.close()
  nuxt = undefined
})

beforeAll(() => {
  process.env.NUXT_TELEMETRY_DISABLED = '1'
})

describe('an invalid configuration stops the build', () => {
  it('with all problems of options, removed options and registrations', async () => {
    const loading = load({
      autoApi: { prefix: 'api', hooks: {}, multiTenancy: { getTenantId: () => 1, scopedResources: ['psots'] } } as object,
      autoAdmin: { customPages: [{ canAccess: () => true }] },
      extra(registry) {
        registry.register('posts', { schema: createModuleImport('/nowhere/schema', 'posts') })
        registry.register('pages', {
          schema: createModuleImport('~~/server/database/schema', 'posts'),
          authorization: { permissions: { read: () => true } } as never,
        })
      },
    })
    const message: string = await loading.then(() => expect.fail('it built'), (error: Error) => error.message)
    const paths = message.split('\n').map(line => /^\[auto-api\] `([^`]+)`/.exec(line)?.[1])
    expect(paths).toEqual([
      'autoApi.hooks',
      'autoApi.multiTenancy.getTenantId',
      'autoAdmin.customPages[0].canAccess',
      'autoApi.prefix',
      'posts',
      'posts.schema',
      'pages.authorization.permissions.read',
      'autoApi.multiTenancy.scopedResources[0]',
    ])
  })

  it('with the missing exports of registrations and plugins', async () => {
    const loading = load({
      autoApi: { plugins: ['./server/handler', createModuleImport('~~/server/database/schema', 'plugin')] },
      extra(registry) {
        registry.register('pages', {
          schema: createModuleImport('~~/server/database/schema', 'pots'),
          authorization: createModuleImport('~~/server/database/schema', 'auht'),
        })
      },
    })
    const message: string = await loading.then(() => expect.fail('it built'), (error: Error) => error.message)
    expect(message.split('\n')).toEqual([
      expect.stringContaining('`pages.schema` names `pots`, which `server/database/schema.ts` does not export. Did you mean `posts`?'),
      expect.stringContaining('`pages.authorization` names `auht`, which `server/database/schema.ts` does not export.'),
      expect.stringContaining('`autoApi.plugins[1]` names `plugin`, which `server/database/schema.ts` does not export.'),
    ])
  })
})

describe('a route rule that caches a path of the API', () => {
  it.each<[where: string, overrides: Overrides]>([
    ['routeRules', { routeRules: { '/api/**': { swr: 60 } } }],
    ['nitro.routeRules', { nitro: { routeRules: { '/api/posts/**': { swr: 60 } } } }],
  ])('stops the build with its path and what to do: %s', async (_, overrides) => {
    await expect(load(overrides)).rejects.toThrow(
      /\[auto-api\] `routeRules\['\/api\/.*\*\*'\]\.swr` would cache the responses of `\/api\/(?:posts|notes)/,
    )
  })

  it('is allowed if another rule turns it off, or if the app handles the path itself', async () => {
    await expect(
      load({ routeRules: { '/**': { swr: 60 }, '/api/**': { swr: false, cache: false }, '/api/users': { swr: 60 } } }),
    ).resolves.toBeDefined()
  })
})

describe('a valid app', () => {
  it('mounts the routes that the app, its layers and other modules do not have', async () => {
    const { _nitro: { options: { handlers } } } = await load()
    const ours = handlers
      .filter(({ handler }) => handler.includes('/src/runtime/server/routes/'))
      .map(({ route, method }) => `${method ?? 'any'} ${route}`)
    const on = (path: string) => ours.filter(line => line.endsWith(` ${path}`))

    // The router prefers the app's handlers for one method to a handler for all methods.
    expect(on('/api/posts')).toEqual(['any /api/posts']) // the layer's posts.post.ts
    expect(on('/api/posts/:slug')).toEqual(['any /api/posts/:slug']) // posts/[slug].get.ts
    expect(on('/api/users')).toEqual([]) // users.ts answers every method
    expect(on('/api/users/:id')).toEqual(['any /api/users/:id'])
    expect(on('/api/tags')).toEqual(['any /api/tags']) // another module's handler; tags.get.dev.ts does not exist in production
    expect(on('/api/tags/:id')).toEqual(['any /api/tags/:id']) // (group)/tags/[id].delete.ts
  })

  it('gives Nitro the generated modules and the alias of h3', async () => {
    const { _nitro: { options: { virtual, alias } } } = await load({ autoApi: { prefix: '/v2' } })
    const codeOf = (id: string) => (virtual[id] as () => string)()
    expect(codeOf('#auto-api/config')).toContain('"prefix": "/v2"')
    expect(codeOf('#auto-api/registry')).toContain(`from "${cwd}/server/database/schema.ts"`)
    expect(alias['#auto-api/h3']).toMatch(/(^|\/)h3(\/|$)/)
  })

  it.each([
    [false, true],
    [true, false],
  ])('bundles Drizzle and Zod, but not for each saved file in development: dev %s', async (dev, expected) => {
    const { externals, noExternals } = (await load({ dev }))._nitro.options as {
      externals?: { inline?: unknown[] }
      noExternals?: unknown[]
    }
    const patterns = [externals?.inline, noExternals].flat(2).filter(entry => entry instanceof RegExp)
    expect(['drizzle-orm', 'zod'].map(name => patterns.some(pattern => pattern.test(`/app/node_modules/${name}/index.js`)))).toEqual([
      expected,
      expected,
    ])
  })

  it('keeps auto-imports out of its own files, wherever the package is installed', async () => {
    const { options: { imports: { transform } } } = await load()
    const files = ['app/error.ts', 'server/utils/index.ts'].map(file =>
      fileURLToPath(new URL(`../../../src/runtime/${file}`, import.meta.url)),
    )
    const isLeftOut = (file: string) => transform!.exclude!.some(pattern => pattern.test(file))
    expect([...files, `${cwd}/app.vue`].map(isLeftOut)).toEqual([true, true, false])
  })

  it('mounts the routes under another prefix', async () => {
    const { _nitro: { options: { handlers } } } = await load({ autoApi: { prefix: '/v2' } })
    const routes = handlers.filter(({ handler }) => handler.includes('/src/runtime/server/routes/')).map(({ route }) => route!)
    expect(routes).toContain('/v2/users/:id')
    expect(routes.filter(route => !route.startsWith('/v2/'))).toEqual([])
  })
})
