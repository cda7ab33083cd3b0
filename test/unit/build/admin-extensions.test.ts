/** What plugins and modules add to the admin: its order, its generated module, and the mistakes that stop the build. */
import { describe, expect, it } from 'vitest'
import { collectExtensions, generateExtensions, pluginDirs } from '../../../src/build/admin/extensions'
import type { AdminExtension } from '../../../src/runtime/shared/types/admin'

const findPath = (path: string) => path.endsWith('missing.vue') ? undefined : path.replace('~', '/app')

const collect = (...added: unknown[]) => collectExtensions(
  path => path.replace('.', '/package'),
  registry => added.forEach(extension => registry.add(extension as AdminExtension)),
  findPath,
)
const problemsOf = async (...added: unknown[]) => (await collect(...added)).problems.map(({ where, what, instead }) => `${where} ${what}. ${instead}`)

const view = { component: '~/likes.vue', label: 'Likes' }
const part = { slot: 'listMenu', component: '~/likes.vue', features: ['likes'] }

describe('the extensions', () => {
  it('are the views of the built-in plugins, then those of modules, in the order of the navigation', async () => {
    const { views, problems } = await collect({ views: { likes: view } }, { views: { stars: { ...view, replaces: 'stars' } } })
    expect(views.map(({ name }) => name)).toEqual(['tokens', 'audit', 'activity', 'webhooks', 'likes', 'stars'])
    expect(views.at(-1)).toEqual({ name: 'stars', component: '/app/likes.vue', label: 'Likes', replaces: 'stars' })
    expect(problems).toEqual([])
  })

  it('have a part of a built-in plugin in each slot, whose file is in its folder', async () => {
    const { parts } = await collect()
    expect(new Set(parts.map(({ slot }) => slot))).toEqual(new Set(['overview', 'listMenu', 'recordTab', 'recordFields', 'value']))
    const folders = pluginDirs(path => path.replace('.', '/package'))
    expect(folders).toContain('/package/runtime/plugins/audit-log/admin')
    expect(parts.filter(({ component }) => !folders.some(folder => component.startsWith(`${folder}/`)))).toEqual([])
  })

  it('give the queries of the admin the options of plugins, which follow what others write', async () => {
    const { queries, problems } = await collect({ queries: { sounds: true } })
    expect([queries, problems]).toEqual([{ live: true, sounds: true }, []])
    expect(generateExtensions({ views: [], parts: [], queries })).toContain('queries: Readonly<Record<string, unknown>> = {"live":true,"sounds":true}')
  })

  it('become a module that loads each component when it is shown', async () => {
    const { views, parts } = await collect({ views: { likes: view }, parts: [part] })
    const code = generateExtensions({ views: views.slice(-1), parts: parts.slice(-1), queries: {} })
    expect(code).toContain('{"label":"Likes","name":"likes", load: () => import("/app/likes.vue") as never },')
    expect(code).toContain('{"slot":"listMenu","features":["likes"], load: () => import("/app/likes.vue") as never },')
    expect(code.match(/^import .*/gm)).toEqual(['import type { Component } from \'vue\''])
  })
})

describe('a mistake stops the build', () => {
  it.each<[mistake: string, extension: unknown, problem: string]>([
    ['an extension that is no object', 'likes.vue', 'autoAdmin:extend[0] is \'likes.vue\'. Use an object with `views` or `parts`.'],
    ['an unknown key', { part: [] }, 'autoAdmin:extend[0].part is not an option. Did you mean `parts`?'],
    ['views in a list', { views: [view] }, 'autoAdmin:extend[0].views is [ { component: \'~/likes.vue\', label: \'Likes\' } ]. Use an object by name.'],
    ['queries that are no object', { queries: true }, 'autoAdmin:extend[0].queries is true. Use an object of options.'],
    ['parts in an object', { parts: {} }, 'autoAdmin:extend[0].parts is {}. Use a list of parts.'],
    ['a view without a text', { views: { likes: { component: '~/likes.vue' } } }, 'autoAdmin:extend[0].views.likes.label is missing. Use a text.'],
    ['a view without a component', { views: { likes: { label: 'Likes' } } }, 'autoAdmin:extend[0].views.likes.component is missing. Use the path of a component.'],
    [
      'a component that is no file', { views: { likes: { ...view, component: '~/missing.vue' } } },
      'autoAdmin:extend[0].views.likes.component is \'~/missing.vue\', which is not a file. Use the path of a component: `~/admin/reports.vue`.',
    ],
    [
      'a name that is no segment of a path', { views: { 'my/likes': view } },
      'autoAdmin:extend[0].views.my/likes.name is \'my/likes\'. Use a name of letters, digits, `-` and `_` that begins with a letter.',
    ],
    ['the view of a built-in plugin', { views: { audit: view } }, 'autoAdmin:extend adds a view with the name `audit`, which exists already. Choose another name.'],
    ['the view of the permissions', { views: { permissions: view } }, 'autoAdmin:extend adds a view with the name `permissions`, which exists already. Choose another name.'],
    ['a part that is no object', { parts: ['likes.vue'] }, 'autoAdmin:extend[0].parts[0].slot is undefined. Use one of overview, listMenu, recordTab, recordFields, value.'],
    [
      'an unknown slot', { parts: [{ ...part, slot: 'listMenus' }] },
      'autoAdmin:extend[0].parts[0].slot is \'listMenus\'. Use one of overview, listMenu, recordTab, recordFields, value. Did you mean `listMenu`?',
    ],
    ['a slot of every object', { parts: [{ ...part, slot: 'toString' }] }, 'autoAdmin:extend[0].parts[0].slot is \'toString\'. Use one of overview, listMenu, recordTab, recordFields, value.'],
    ['a part for everyone', { parts: [{ ...part, features: [] }] }, 'autoAdmin:extend[0].parts[0].features is []. Use a list of features.'],
    ['a part without a feature', { parts: [{ ...part, features: undefined }] }, 'autoAdmin:extend[0].parts[0].features is missing. Use a list of features.'],
    ['a part of the overview without a tool', { parts: [{ slot: 'overview', component: '~/likes.vue' }] }, 'autoAdmin:extend[0].parts[0].tool is missing. Use a name of letters, digits, `-` and `_` that begins with a letter.'],
    ['a property of another slot', { parts: [{ ...part, tool: 'likes' }] }, 'autoAdmin:extend[0].parts[0].tool is not an option. Remove it.'],
    ['the first tab of a record', { parts: [{ ...part, slot: 'recordTab', name: 'details', label: 'Details' }] }, 'autoAdmin:extend adds a tab of a record with the name `details`, which exists already. Choose another name.'],
  ])('%s', async (_mistake, extension, problem) => {
    expect(await problemsOf(extension)).toEqual([problem])
  })

  it('two modules that add a view of one name', async () => {
    expect(await problemsOf({ views: { likes: view } }, { views: { likes: view } })).toEqual([
      'autoAdmin:extend adds a view with the name `likes`, which exists already. Choose another name.',
    ])
  })
})
