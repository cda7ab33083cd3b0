/** The options of the admin: what is accepted, and the message for everything else. */
import { describe, expect, it } from 'vitest'
import { resolveAdminOptions } from '../../../src/build/admin/options'
import { checkAdminResources } from '../../../src/build/admin/resources'
import { toMessage } from '../../../src/build/problem'

const page = { path: '/reports', label: 'Reports', component: '~/admin/reports.vue', permissions: ['posts:update', 'users:read'] }
const findPath = (path: string) => path.endsWith('.vue') ? path.replace('~', '/app') : undefined
const messages = (options: object) => resolveAdminOptions(options as never, findPath).problems.map(toMessage)
const ofPage = (change: object) => messages({ customPages: [{ ...page, ...change }] })

describe('the options of the admin', () => {
  it('have defaults', () => {
    expect(resolveAdminOptions({}, findPath)).toEqual({
      prefix: '/admin', middleware: undefined, components: [], problems: [],
      config: { hasMiddleware: false, branding: {}, pages: [], resources: {} },
    })
  })

  it('are resolved: components to files, permissions to pairs', () => {
    const { config, problems, middleware } = resolveAdminOptions({
      middleware: 'staff',
      customPages: [page],
      resources: { posts: { columns: ['title'], fields: { body: { component: '~/admin/body.vue', help: 'Markdown' } } } },
      branding: { name: 'News' },
    }, findPath)
    expect([problems, middleware]).toEqual([[], 'staff'])
    expect(config).toEqual({
      hasMiddleware: true,
      branding: { name: 'News' },
      pages: [
        {
          path: '/reports',
          label: 'Reports',
          icon: undefined,
          component: '/app/admin/reports.vue',
          permissions: [
            ['posts', 'update'],
            ['users', 'read'],
          ],
        },
      ],
      resources: { posts: { columns: ['title'], fields: { body: { help: 'Markdown', component: '/app/admin/body.vue' } } } },
    })
  })

  it.each([
    ['a misspelt option', { customPage: [] }, '`autoAdmin.customPage` is not an option. Did you mean `customPages`?'],
    ['a prefix with a parameter', { prefix: '/:admin' }, '`autoAdmin.prefix` is \':admin\''.replace('\':', '\'/:')],
    ['a middleware that is no name', { middleware: () => true }, '`autoAdmin.middleware` is [Function: middleware]'],
    ['pages that are no list', { customPages: {} }, '`autoAdmin.customPages` is {}. Use a list of pages.'],
    ['a page that is no object', { customPages: ['/reports'] }, '`autoAdmin.customPages[0]` is \'/reports\'. Use an object'],
    [
      'a misspelt option of a resource',
      { resources: { posts: { column: [] } } },
      '`autoAdmin.resources.posts.column` is not an option. Did you mean `columns`?',
    ],
    [
      'an unknown widget',
      { resources: { posts: { fields: { body: { widget: 'markdwn' } } } } },
      '`autoAdmin.resources.posts.fields.body.widget` is \'markdwn\'. Use one of text',
    ],
    [
      'a missing component of a field',
      { resources: { posts: { fields: { body: { component: '~/none' } } } } },
      'is \'~/none\', which is not a file',
    ],
  ])('refuse %s', (_what, options, message) => {
    expect(messages(options)).toEqual([expect.stringContaining(message)])
  })

  it.each([
    [
      'a misspelt `permissions`',
      { permissions: undefined, permission: [] },
      ['permission` is not an option. Did you mean `permissions`?', 'permissions` is missing'],
    ],
    ['no permissions', { permissions: undefined }, ['`autoAdmin.customPages[0].permissions` is missing. Use a list such as']],
    [
      'a permission without an operation',
      { permissions: ['posts'] },
      ['`autoAdmin.customPages[0].permissions[0]` is \'posts\'. Use `<resource>:<operation>`'],
    ],
    ['an unknown operation', { permissions: ['posts:updat'] }, ['Did you mean `update`?']],
    ['a permission with two operations', { permissions: ['posts:read:update'] }, ['is \'posts:read:update\'']],
    ['a component that does not exist', { component: '~/none' }, ['`autoAdmin.customPages[0].component` is \'~/none\', which is not a file']],
    ['a path with a parameter', { path: '/reports/:id' }, ['Use a path such as `/reports`']],
    ['a path out of the admin', { path: '/../secret' }, ['Use a path such as `/reports`']],
  ])('refuse a page with %s', (_what, change, expected) => {
    expect(ofPage(change)).toEqual(expected.map(text => expect.stringContaining(text)))
  })

  it('report removed options once, by the list of removed options', () => {
    expect(messages({ access: 'admin', customPages: [{ ...page, canAccess: () => true }] })).toEqual([])
  })

  it('refuse two pages with one path', () => {
    expect(messages({ customPages: [page, page] })).toEqual([
      expect.stringContaining('customPages[1].path` is `/reports`, as of another page'),
    ])
  })

  it.each([
    [
      'a permission on an unknown resource',
      { customPages: [{ ...page, permissions: ['post:read'] }] },
      'permissions[0]` names `post`, which is not a registered resource. Did you mean `posts`?',
    ],
    [
      'a page on the path of a resource',
      { customPages: [{ ...page, path: '/posts/stats' }] },
      'path` begins with the name of the resource `posts`',
    ],
    ['options for an unknown resource', { resources: { pots: {} } }, 'autoAdmin.resources.pots` names `pots`'],
  ])('fail the build with %s', (_what, options, message) => {
    const { config } = resolveAdminOptions(options, findPath)
    expect(checkAdminResources(config, ['posts', 'users']).map(toMessage)).toEqual([expect.stringContaining(message)])
  })
})
