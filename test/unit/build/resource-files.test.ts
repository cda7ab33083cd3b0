/** Resources that files register: what the build reads from their text, and the message for what it cannot read. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createModuleImport } from '../../../src/build/module-import'
import { toMessage } from '../../../src/build/problem'
import { collectRegistrations } from '../../../src/build/registrations'
import { readResourceFile } from '../../../src/build/resource-file'
import { collectResourceFiles, watchResourceFiles } from '../../../src/build/resource-files'
import { generateRegistry } from '../../../src/build/virtual/registry'

// The patterns are those of the loaded Nuxt.
vi.mock('@nuxt/kit', async original => ({ ...await original<object>(), isIgnored: (path: string) => path.endsWith('.test.ts') }))

const file = { name: 'posts', path: '/app/server/resources/posts.ts', displayPath: 'server/resources/posts.ts' }
const read = (text: string) => readResourceFile(file, text)
const IMPORT = 'import { posts } from \'../database/schema\'\n'
const readOptions = (options: string) => read(`${IMPORT}export default defineResource(posts, ${options})`)
const messagesOf = (text: string) => read(text).problems.map(toMessage)
const optionMessages = (options: string) => readOptions(options).problems.map(toMessage)
const member = (name: string) => ({ __moduleImport: true, path: file.path, name: 'default', member: name })
const schema = { __moduleImport: true, path: '/app/server/database/schema', name: 'posts' }

describe('a resource file', () => {
  it('has computed fields, of which the build reads the names', () => {
    const fields = `{ words: computed.integer(t => sql\`length(\${t.body})\`, { lazy: true }), 'full-name': shared, other: make() }`
    expect(readOptions(`{ computed: ${fields} }`)).toMatchObject({
      registration: { schema, computed: { ...member('computed'), names: ['words', 'full-name', 'other'] } }, problems: [],
    })
    expect(read(`import { fields } from './fields'\n${IMPORT}export default defineResource(posts, { computed: fields })`)).toMatchObject({
      registration: { computed: { __moduleImport: true, path: '/app/server/resources/fields', name: 'fields' } }, problems: [],
    })
    expect(optionMessages(`{ computed: { a: computed.int(sql\`1\`) } }`)).toEqual([expect.stringMatching(
      /`posts\.computed\.a`.*uses `computed\.int`, which does not exist.*Use one of: text, integer/s,
    )])
    expect(optionMessages('{ computed: { ...shared } }')).toEqual([expect.stringContaining('contains a spread')])
    expect(optionMessages('{ computed: make() }')).toEqual([expect.stringContaining('is neither an object nor the name of an import')])
  })

  it('is read without running it: the table, the parts for the server and the data', () => {
    const { registration, hasPermissions, problems } = read(`
      import { eq } from 'drizzle-orm'
      import { posts, postsRelations as named } from '../database/schema'
      throw new Error('never runs')
      export default defineResource(posts, {
        permissions: { read: true, update: ctx => ctx.user?.role === 'editor' },
        listFilter(table, ctx) { return ctx.user ? undefined : eq(table.status, 'published') },
        validation: { create: schema },
        hooks: { async beforeCreate(data) { return data } },
        relations: named,
        key: ['blog', 'slug'],
        references: { blog: 'blogs' },
        tracks: ['posts', 'blogs'],
        hiddenFields: ['secret' as const, \`token\`] satisfies string[],
        protectedFields: [],
        disabled: ['purge'],
        requireIfMatch: true,
        metadata: { label: 'Articles', order: -1, nested: [null, { 'a-b': false }] },
      } as const)
    `)
    expect(problems).toEqual([])
    expect(hasPermissions).toBe(true)
    expect(registration).toEqual({
      schema,
      authorization: member('authorization'),
      validation: member('validation'),
      hooks: member('hooks'),
      relations: { ...schema, name: 'postsRelations' },
      key: ['blog', 'slug'],
      references: { blog: 'blogs' },
      tracks: ['posts', 'blogs'],
      hiddenFields: ['secret', 'token'],
      protectedFields: [],
      disabled: ['purge'],
      requireIfMatch: true,
      metadata: { label: 'Articles', order: -1, nested: [null, { 'a-b': false }] },
    })
  })

  it.each([
    ['a namespace', 'import * as schema from \'../database/schema\'\nexport default defineResource(schema.posts, { permissions: {} })'],
    ['a constant', `${IMPORT}const resource = defineResource(posts, { permissions: {} })\nexport default resource`],
    [
      'another local name',
      'import { posts as table } from \'../database/schema\'\nexport default defineResource(table, { permissions: {} })',
    ],
    ['an authorization of another file', `${IMPORT}export default defineResource(posts, { authorization: postsAuth })`],
  ])('can use %s', (_, text) => {
    expect(read(text)).toMatchObject({
      registration: { schema, authorization: member('authorization') },
      hasPermissions: true,
      problems: [],
    })
  })

  it.each(['~~/server/database/schema', '@acme/schema'])('can import the table from %s', (from) => {
    expect(read(`import { posts } from '${from}'\nexport default defineResource(posts)`).registration)
      .toEqual({ schema: { ...schema, path: from } })
  })

  it.each([
    [
      'no default export',
      `${IMPORT}export const posts2 = defineResource(posts)`,
      '`server/resources/posts.ts` does not export a resource as its default. Every file of this folder registers one resource. Write `export default defineResource(table',
    ],
    [
      'another default export',
      'export default { permissions: { read: true } }',
      '`server/resources/posts.ts` does not export a resource as its default.',
    ],
    [
      'a syntax error',
      'export default defineResource(posts, {',
      /^`server\/resources\/posts\.ts` cannot be read: .+\(1:\d+\).*Correct the syntax error\./,
    ],
    [
      'a table of the same file',
      'const posts = sqliteTable(\'posts\', {})\nexport default defineResource(posts)',
      '`posts.schema` (server/resources/posts.ts:2) is not the name of an imported table. Import the table from another file',
    ],
    ['no table', 'export default defineResource()', '`posts.schema` (server/resources/posts.ts:1) is not the name of an imported table.'],
    [
      'options of a variable',
      `${IMPORT}export default defineResource(posts, options)`,
      '`posts` (server/resources/posts.ts:2) is not an object literal, so the build cannot read it. Write the object out in the file.',
    ],
  ])('is refused for %s', (_, text, message) => {
    expect(messagesOf(text)).toEqual([expect.stringMatching(message instanceof RegExp ? message : escape(message))])
  })

  it.each([
    ['{ permissions: { reed: true } }', '`posts.permissions.reed` (server/resources/posts.ts:2) is not an operation. Did you mean `read`?'],
    [
      '{ permissions: { publish: true } }',
      '`posts.permissions.publish` (server/resources/posts.ts:2) is not an operation. Use one of: read, create',
    ],
    [
      '{ hooks: { beforeCraete: () => {} } }',
      '`posts.hooks.beforeCraete` (server/resources/posts.ts:2) is not a hook. Did you mean `beforeCreate`?',
    ],
    ['{ validation: { creat: schema } }', '`posts.validation.creat` (server/resources/posts.ts:2) is not a body. Did you mean `create`?'],
    [
      '{ premissions: { read: true } }',
      '`posts.premissions` (server/resources/posts.ts:2) is not a key of a resource. Did you mean `permissions`?',
    ],
    [
      '{ schema: posts }',
      '`posts.schema` (server/resources/posts.ts:2) is not a key of a resource. The table is the first argument of `defineResource`.',
    ],
    [
      '{ authorization: auth, permissions: { read: true } }',
      '`posts.permissions` (server/resources/posts.ts:2) is set beside `authorization`. Move it into `authorization`.',
    ],
    [
      '{ hiddenFields: HIDDEN }',
      '`posts.hiddenFields` (server/resources/posts.ts:2) is not a literal, so the build cannot read it. Write the value out in the file.',
    ],
    ['{ hiddenFields: [...HIDDEN] }', '`posts.hiddenFields` (server/resources/posts.ts:2) is not a literal'],
    ['{ metadata: { label: t(\'posts\') } }', '`posts.metadata` (server/resources/posts.ts:2) is not a literal'],
    ['{ metadata: { get label() { return 1 } } }', '`posts.metadata` (server/resources/posts.ts:2) is not a literal'],
    ['{ requireIfMatch() {} }', '`posts.requireIfMatch` (server/resources/posts.ts:2) is not a literal'],
    [
      '{ ...shared }',
      '`posts` (server/resources/posts.ts:2) contains a spread (`...`), so the build cannot read it. Write every key out in the file.',
    ],
    ['{ [key]: 1 }', '`posts` (server/resources/posts.ts:2) contains a computed key, so the build cannot read it.'],
    [
      '{ relations: relations(posts, () => ({})) }',
      '`posts.relations` (server/resources/posts.ts:2) is not the name of an import. Import the relations from another file.',
    ],
  ])('names the key, the line and the correction: %s', (options, message) => {
    expect(optionMessages(options)).toEqual([expect.stringMatching(escape(message))])
  })
})

function escape(text: string): RegExp {
  return new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`)
}

describe('the folder of resource files', () => {
  let root: string
  const add = (path: string, text = `${IMPORT}export default defineResource(posts, { permissions: { read: true } })`) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const optionsOf = () => ({
    rootDir: root,
    dev: true,
    _layers: [
      { cwd: root, config: { rootDir: root, srcDir: join(root, 'app'), serverDir: join(root, 'server') } },
      {
        cwd: join(root, 'layer'),
        config: { rootDir: join(root, 'layer'), srcDir: join(root, 'layer/app'), serverDir: join(root, 'layer/server') },
      },
    ] as never,
  })
  const collect = (option: unknown = 'resources') => collectResourceFiles(option, { options: optionsOf() })
  const namesOf = (option?: unknown) => collect(option).resources.map(({ name, displayPath }) => [name, displayPath])

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'resource-files-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  it('can be absent', () => {
    expect(collect()).toEqual({ resources: [], problems: [] })
  })

  it('is read in every layer, and a file of the app replaces one of a layer', () => {
    add('server/resources/posts.ts')
    add('layer/server/resources/posts.ts', 'not even code')
    add('layer/server/resources/tags.mjs')
    add('server/resources/README.md', '# Resources')
    add('server/resources/posts.test.ts', 'it()')
    expect(namesOf()).toEqual([['posts', 'server/resources/posts.ts'], ['tags', 'layer/server/resources/tags.mjs']])
    expect(collect().problems).toEqual([])
  })

  it('can have another name, and can be turned off', () => {
    add('server/api-resources/posts.ts')
    expect(namesOf()).toEqual([])
    expect(namesOf('api-resources')).toEqual([['posts', 'server/api-resources/posts.ts']])
    expect(collect(false)).toEqual({ resources: [], problems: [] })
    expect(collect(true).problems.map(toMessage)).toEqual([expect.stringContaining('`autoApi.resourcesDir` is not a folder.')])
  })

  it('reports subfolders, whose files would be ignored', () => {
    add('server/resources/blog/posts.ts')
    expect(collect().problems.map(toMessage)).toEqual([
      '`server/resources/blog` is a folder. Move its files one folder up: the name of a file is the name of its resource.',
    ])
  })

  it('has the same checks as the hook, together with it', async () => {
    add('server/resources/posts.ts')
    add('server/resources/permissions.ts')
    add('server/resources/tags.ts', `${IMPORT}export default defineResource(posts, { listFilter: () => undefined })`)
    add('server/resources/users.ts', `${IMPORT}export default defineResource(posts)`)
    const { problems, warnings, registrations } = await collectRegistrations((registry) => {
      registry.register('posts', { schema: createModuleImport('/app/schema', 'posts') })
      registry.override('users', { authorization: createModuleImport('/app/auth', 'usersAuth') })
      registry.protect('tags', ['score'])
    }, path => path, collect().resources)
    expect(problems.map(toMessage)).toEqual([
      '`permissions` is the name of a route of the API. Choose another name.',
      expect.stringMatching(
        /^`posts` is registered twice\. Register each resource once: in a file of `server\/resources` or in the hook\./,
      ),
    ])
    expect(warnings).toEqual([
      '`tags` and `posts` have no authorization, so every request is refused. Add `permissions: { read: true }` to '
      + '`server/resources/tags.ts`. Add `authorization: createModuleImport(path, name)` to the registration.',
    ])
    expect(registrations.find(({ name }) => name === 'tags')!.data).toEqual({ protectedFields: ['score'] })
  })

  it('is imported by the server once per file', async () => {
    add(
      'server/resources/posts.ts',
      `${IMPORT}export default defineResource(posts, { permissions: {}, hooks: {}, hiddenFields: ['secret'] })`,
    )
    const { registrations } = await collectRegistrations(() => {}, path => path, collect().resources)
    const registry = generateRegistry(registrations, root)
    expect(registry.match(/^import .*$/gm)).toEqual([
      `import { posts as import0 } from "${root}/server/database/schema";`,
      `import { default as import1 } from "${root}/server/resources/posts.ts";`,
      `import * as schema0 from "${root}/server/database/schema";`,
    ])
    expect(registry).toContain('authorization: import1.authorization')
    expect(registry).toContain('hooks: import1.hooks')
    expect(registry).toContain('"authorization":"server/resources/posts.ts"')
  })

  it('restarts Nuxt when a registration changes, also if the folders are created later, and not when only a rule changes', async () => {
    const hooks: Record<string, () => void> = {}
    const callHook = vi.fn()
    const nuxt = { options: optionsOf(), hook: (name: string, run: () => void) => hooks[name] = run, callHook }
    watchResourceFiles('resources', nuxt as never, collect())
    const restarts = (count: number) =>
      vi.waitFor(() => expect(callHook.mock.calls).toEqual(Array(count).fill(['restart'])), { timeout: 10_000 })
    try {
      add('server/resources/posts.ts')
      await restarts(1)
      add('server/resources/posts.ts', `${IMPORT}export default defineResource(posts, { permissions: { read: 'editor' } })`)
      add('server/resources/tags.ts')
      await restarts(2)
      rmSync(join(root, 'server'), { recursive: true })
      await restarts(3)
      add('server/resources/tags.ts')
      await restarts(4)
    }
    finally {
      hooks.close!()
    }
  })
})
