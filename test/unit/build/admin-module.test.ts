/** Checks the module of the admin in a loaded Nuxt: mistakes stop the build, in whichever order the modules are listed. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadNuxt } from '@nuxt/kit'
import type { Nuxt, NuxtPage } from '@nuxt/schema'
import uiModule from '@nuxt/ui'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AdminExtension, AdminRegistry } from '../../../src/admin'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const fixture = join(root, 'test/fixtures/module-setup')
mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
const empty = mkdtempSync(join(root, 'node_modules/.cache/admin-module-'))
const ADMIN = join(root, 'src/admin')

beforeAll(() => {
  process.env.NUXT_TELEMETRY_DISABLED = '1'
  writeFileSync(join(empty, 'nuxt.config.ts'), 'export default {}\n')
})
afterAll(() => rmSync(empty, { recursive: true, force: true }))

let nuxt: Nuxt | undefined
afterEach(async () => {
  await nuxt?.close()
  nuxt = undefined
})

async function load(overrides: object, cwd = fixture): Promise<Nuxt> {
  nuxt = await loadNuxt({ cwd, overrides: { modules: [ADMIN], ui: { fonts: false }, logLevel: 'silent', ...overrides } as object })
  return nuxt
}

/** The messages that stop the build. */
const problems = (overrides: object, cwd?: string): Promise<string[]> =>
  load(overrides, cwd).then(() => [], (error: Error) => error.message.split('\n'))

/** An app with a module that adds this to the admin. */
const adds = (extension: AdminExtension) => ({ hooks: { 'autoAdmin:extend': (registry: AdminRegistry) => registry.add(extension) } })
const view = { component: join(fixture, 'server/handler.ts'), label: 'Likes' }
const page = { path: '/reports', label: 'Reports', component: join(fixture, 'app/app.vue'), permissions: ['posts:update'] }
const pages = (...changes: object[]) => ({ autoAdmin: { customPages: changes.map(change => ({ ...page, ...change })) } })

describe('a mistake stops the build', () => {
  it.each<[mistake: string, overrides: object, ...parts: string[]]>([
    [
      '`access`',
      { autoAdmin: { access: 'admin' } },
      '`autoAdmin.access` was removed',
      '`autoAdmin.middleware',
      'upgrading.md#admin-access',
    ],
    ['`canAccess`', pages({ canAccess: () => true }), '`autoAdmin.customPages[0].canAccess` was removed', 'upgrading.md#admin-page-access'],
    ['an unknown option', { autoAdmin: { midleware: 'staff' } }, '`autoAdmin.midleware` is not an option. Did you mean `middleware`?'],
    [
      'an unknown option of a page',
      pages({ permission: [] }),
      '`autoAdmin.customPages[0].permission` is not an option. Did you mean `permissions`?',
    ],
    ['a page without permissions', pages({ permissions: undefined }), '`autoAdmin.customPages[0].permissions` is missing'],
    ['an unknown operation', pages({ permissions: ['posts:edit'] }), '`autoAdmin.customPages[0].permissions[0]` is \'posts:edit\''],
    [
      'an unknown resource',
      pages({ permissions: ['psots:update'] }),
      '`autoAdmin.customPages[0].permissions[0]` names `psots`, which is not a registered resource. Did you mean `posts`?',
    ],
    [
      'a path that begins with a resource',
      pages({ path: '/posts/report' }),
      '`autoAdmin.customPages[0].path` begins with the name of the resource `posts`',
    ],
    ['two pages with one path', pages({}, { label: 'Other' }), '`autoAdmin.customPages[1].path` is `/reports`, as of another page'],
    [
      'a component that is no file',
      pages({ component: '~/nowhere.vue' }),
      '`autoAdmin.customPages[0].component` is \'~/nowhere.vue\', which is not a file',
    ],
    [
      'a component of a package',
      pages({ component: 'some-package/page.vue' }),
      '`autoAdmin.customPages[0].component`',
      'which is not a file',
    ],
    [
      'a component that is a public page',
      { ...pages({ component: join(fixture, 'server/handler.ts') }), dir: { pages: '../server' } },
      'which everyone can open, because it is in `pages/`',
    ],
    ['a view that exists already', adds({ views: { audit: view } }), '`autoAdmin:extend` adds a view with the name `audit`'],
    [
      'a view of a module that is a public page',
      { ...adds({ views: { likes: view } }), dir: { pages: '../server' } },
      'which everyone can open, because it is in `pages/`',
    ],
    [
      'an unknown resource in `resources`',
      { autoAdmin: { resources: { pots: {} } } },
      '`autoAdmin.resources.pots` names `pots`',
      'Did you mean `posts`?',
    ],
    ['a cached page', { routeRules: { '/admin/**': { swr: 60 } } }, '`routeRules[\'/admin/**\'].swr` would cache the responses of `/admin`'],
    [
      'a cached resource',
      { autoAdmin: { prefix: '/office' }, routeRules: { '/office/posts/*': { prerender: true } } },
      '`routeRules[\'/office/posts/*\'].prerender` would cache',
    ],
    ['an app without pages', { pages: false }, '`pages` is `false`, but the admin is a page'],
    ['an app without Nuxt UI', { ui: false }, '`ui` is `false`, but the admin is built with Nuxt UI. Remove the option.'],
  ])('%s', async (_mistake, overrides, ...parts) => {
    const messages = (await problems(overrides)).join('\n')
    for (const part of parts) expect(messages).toContain(part)
  })

  it('without the module of the API', async () => {
    expect(await problems({}, empty)).toEqual([
      '[auto-api] `modules` lists `nuxt-auto-api/admin` without `nuxt-auto-api`. List both: `modules: [\'nuxt-auto-api\', \'nuxt-auto-api/admin\']`.',
    ])
  })

  it('with every problem of the admin at once', async () => {
    const messages = await problems({
      autoAdmin: {
        prefix: 'admin',
        midleware: 1,
        customPages: [
          { ...page, label: '' },
          { ...page, component: '~/x.vue' },
        ],
      },
    })
    expect(messages.map(line => /`([^`]+)`/.exec(line)?.[1])).toEqual([
      'autoAdmin.prefix', 'autoAdmin.midleware', 'autoAdmin.customPages[0].label', 'autoAdmin.customPages[1].component',
    ])
  })
})

describe('a valid app', () => {
  it.each([
    ['after the module of the API', {}, fixture],
    ['before it', { modules: [ADMIN, join(root, 'src/module')] }, empty],
  ])('has the page, its middleware and its plugin, if the admin is listed %s', async (_, overrides, cwd) => {
    const loaded = await load({ ...overrides, autoAdmin: { prefix: '/office' } }, cwd)
    const added: NuxtPage[] = []
    await loaded.callHook('pages:extend', added)
    expect(added).toMatchObject([{ path: '/office/:path(.*)*', meta: { layout: false, middleware: ['auto-admin'] } }])
    const { virtual } = (loaded as never as { _nitro: { options: { virtual: Record<string, () => string> } } })._nitro.options
    expect(virtual['#auto-api/plugins']!()).toContain('from "#auto-admin/plugin"')
    expect(virtual['#auto-admin/plugin']!()).toContain('export const admin = adminPlugin({"hasMiddleware":false,')
  })

  it('has what modules add, if they are listed before or after it', async () => {
    const first = (_: object, nuxt: Nuxt) => void nuxt.hook('autoAdmin:extend', registry => registry.add({ views: { likes: view } }))
    const last = (_: object, nuxt: Nuxt) => void nuxt.hook('autoAdmin:extend', registry => registry.add({ views: { stars: view } }))
    const { options } = await load({ modules: [first, ADMIN, last] })
    const code = await options.build.templates.find(({ filename }) => filename === 'auto-admin/extensions.ts')!.getContents!({} as never)
    const names = [...code.matchAll(/"name":"(\w+)", load: \(\) => import\("([^"]+)"\)/g)].map(([, name, path]) => [name, path])
    expect(names.slice(-2)).toEqual([['likes', view.component], ['stars', view.component]])
  })

  it('keeps `onServerPrefetch` in the browser, without which the ids of `useId` differ from those of the server', async () => {
    const { composables } = (await load({})).options.optimization.treeShake
    expect(composables.client.vue).toContain('onRenderTracked')
    expect(composables.client.vue).not.toContain('onServerPrefetch')
  })

  it('warns of a middleware that is no file, and of an app component without pages', async () => {
    const warn = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
    const out = vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
    const loaded = await load({ autoAdmin: { middleware: 'stuff' }, logLevel: 'info' })
    const app = { mainComponent: join(fixture, 'app/app.vue'), middleware: [{ name: 'staff', path: '', global: false }] }
    await loaded.callHook('app:resolve', app as never)
    const printed = [...warn.mock.calls, ...out.mock.calls].join('\n')
    vi.restoreAllMocks()
    expect(printed).toMatch(/autoAdmin\.middleware.* is .*stuff.*Did you mean .*staff/)
    expect(printed).toMatch(/app\.vue has no .*NuxtPage/)
  })
})

describe('Nuxt UI', () => {
  const namesOf = ({ options }: Nuxt) => options._installedModules.map(({ meta }) => meta.name)

  it.each<[app: string, modules: unknown[], own: readonly string[]]>([
    ['does not list it', [ADMIN], ['@nuxt/ui']],
    ['lists it before the admin', ['@nuxt/ui', ADMIN], []],
    ['lists it after the admin', [ADMIN, '@nuxt/ui'], []],
  ])('is installed once, with the modules that it needs, if the app %s', async (_, modules, own) => {
    const loaded = await load({ modules })
    const names = namesOf(loaded)
    for (const name of ['@nuxt/ui', '@nuxt/icon', '@nuxtjs/color-mode'])
      expect([name, names.filter(other => other === name)]).toEqual([name, [name]])
    const styles = loaded.options.build.templates.find(({ filename }) => filename === 'auto-admin/admin.css')
    const css = await styles!.getContents!({ nuxt: loaded } as never)
    expect(css.includes('@import "@nuxt/ui"')).toBe(own.includes('@nuxt/ui'))
  })

  it.each<[app: string, overrides: object, hasFonts: boolean]>([
    ['leaves everything to the admin', {}, false],
    ['has other options of Nuxt UI', { ui: { colorMode: false } }, false],
    ['lists only other modules', { modules: [ADMIN, ['@nuxtjs/color-mode', {}]] }, false],
    ['sets `ui.fonts`', { ui: { fonts: true } }, true],
    ['has options for fonts', { fonts: { defaults: { weights: [400] } } }, true],
    ['lists Nuxt UI', { modules: ['@nuxt/ui', ADMIN] }, true],
    ['lists Nuxt UI after the admin, with options', { modules: [ADMIN, ['@nuxt/ui', {}]] }, true],
    ['lists the module itself', { modules: [ADMIN, uiModule] }, true],
  ])('installs no fonts, which need the internet, unless the app has chosen them: an app that %s', async (_, overrides, hasFonts) => {
    const loaded = await load({ ui: undefined, ...overrides })
    expect(namesOf(loaded).includes('@nuxt/fonts')).toBe(hasFonts)
    expect(namesOf(loaded)).toContain('@nuxt/ui')
  })

  it('stops the build with the command that installs it, if the app does not have it', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'admin-module-'))
    try {
      linkPackages(cwd, '@nuxt/ui')
      writeFileSync(join(cwd, 'nuxt.config.ts'), 'export default {}\n')
      expect(await problems({ modules: [join(root, 'src/module'), ADMIN] }, cwd)).toEqual([
        '[auto-api] `@nuxt/ui` is not installed, but `nuxt-auto-api/admin` requires it. Run `npm install @nuxt/ui tailwindcss`.',
      ])
    }
    finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  })

  /** Gives an app outside the repository all packages of the repository except one. */
  function linkPackages(cwd: string, except: string): void {
    const packages = join(root, 'node_modules')
    const names = readdirSync(packages).filter(name => !name.startsWith('.'))
      .flatMap(name => name.startsWith('@') ? readdirSync(join(packages, name)).map(own => `${name}/${own}`) : [name])
    for (const name of names.filter(name => name !== except)) {
      mkdirSync(join(cwd, 'node_modules', name, '..'), { recursive: true })
      // Nuxt also searches modules from its own folder.
      if (name === 'nuxt') cpSync(join(packages, name), join(cwd, 'node_modules', name), { recursive: true })
      else symlinkSync(join(packages, name), join(cwd, 'node_modules', name))
    }
  }
})
