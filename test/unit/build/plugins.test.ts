/** Checks the list of plugins at build time: which plugins can be passed to the server, and the error for each that cannot. */
import { describe, expect, it } from 'vitest'
import { checkPluginPackages, checkPluginPaths, collectPlugins, registerPluginResources } from '../../../src/build/plugins'
import { toMessage } from '../../../src/build/problem'
import { collectRegistrations } from '../../../src/build/registrations'
import { generatePlugins } from '../../../src/build/virtual/plugins'
import { createModuleImport } from '../../../src/module'
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../../src/runtime/server/plugin/contract'

const notify = defineAutoApiPlugin({ from: 'my-plugins', name: 'notify' }, (options?: unknown, more?: unknown) => ({
  name: 'notify',
  onRequest: () => [options, more],
}))
const files = new Set(['/app/server/api-plugins', '/module/plugin.ts', '/app/schema.ts'])
const collect = (option: unknown, hook: Parameters<typeof collectPlugins>[1] = () => {}) =>
  collectPlugins(option, hook, path => (path.startsWith('/') && !files.has(path) ? undefined : path), '/app')
const cyclic: { list: unknown[] } = { list: [] }
cyclic.list.push(cyclic)
const messages = async (option: unknown) => (await collect(option)).problems.map(toMessage)

describe('the list of plugins', () => {
  it('accepts factories and files, and puts the plugins of modules first', async () => {
    const { sources, problems } = await collect([notify({ a: [1, 'x', null, true] }), './server/api-plugins'], registry =>
      registry.add(createModuleImport('/module/plugin.ts', 'extra')),
    )
    expect(problems).toEqual([])
    const endpoints = [
      { route: '/api/posts/:id/publish', method: 'post', handler: '/app/server/publish.ts' },
      { route: '/api/report', handler: '/app/server/report.ts' },
    ]
    expect(generatePlugins(sources, ['notify'], ['GET /posts/:'], endpoints)).toBe(`import { extra as plugin0 } from "/module/plugin.ts";
import { notify as plugin1 } from "my-plugins";
import { default as plugin2 } from "/app/server/api-plugins";

export function plugins() {
  return [
    { where: "autoApi:registerPlugins[0]", listed: () => plugin0 },
    { where: "autoApi.plugins[0]", listed: () => plugin1({"a":[1,"x",null,true]}) },
    { where: "autoApi.plugins[1]", listed: () => plugin2 },
  ]
}

export async function endpoints() {
  return [
    { method: "POST", path: "/api/posts/:id/publish", handler: (await import("/app/server/publish.ts")).default },
    { path: "/api/report", handler: (await import("/app/server/report.ts")).default },
  ]
}

export const built = ["notify"]
export const reservedPaths = ["GET /posts/:"]
`)
  })

  it.each([
    ['a path', './server/api-plugins'],
    ['a module import', createModuleImport('/module/plugin.ts', 'extra')],
  ])('accepts %s instead of a list', async (_what, option) => {
    expect((await collect(option)).sources).toHaveLength(1)
  })

  it('is empty when the option is not set', async () => {
    expect(await collect(undefined)).toEqual({ sources: [], made: [], named: [], problems: [] })
  })

  it('imports the exports that options name on the server and passes them to the factory', async () => {
    const { sources, problems } = await collect([
      notify({
        auth: createModuleImport('/module/plugin.ts', 'extra'),
        list: [createModuleImport('my-package', 'default')],
        since: undefined,
      }),
    ])
    expect(problems).toEqual([])
    const generated = generatePlugins(sources, [], [])
    expect(generated).toContain('import { extra as option0 } from "/module/plugin.ts";\nimport { default as option1 } from "my-package";')
    expect(generated).toContain('plugin0({"auth":option0,"list":[option1]})')
  })

  it('fails the build when an option names a file that does not exist', async () => {
    expect(await messages([notify({ nested: [{ auth: createModuleImport('/nowhere', 'auth') }] })])).toEqual([
      '`autoApi.plugins[0].notify(…).nested.0.auth` names an export of \'/nowhere\', which is not a file. Use the path of a file: absolute or with an alias.',
    ])
  })

  it('creates an object that two options share, and the key `__proto__`, as in the config', async () => {
    const shared = { a: 1 }
    const generated = generatePlugins(
      (await collect([notify({ one: shared, two: shared, odd: JSON.parse('{"__proto__":1}') })])).sources,
      [],
      [],
    )
    expect(generated).toContain('plugin0({"one":{"a":1},"two":{"a":1},"odd":{["__proto__"]:1}})')
  })

  it('passes every argument to the factory', async () => {
    expect(generatePlugins((await collect([notify(undefined, 2)])).sources, [], [])).toContain('plugin0(undefined, 2)')
  })
})

describe('the module of a factory', () => {
  const from = (path: string) => defineAutoApiPlugin({ from: path, name: 'own' }, () => ({ name: 'own' }))()

  it('can be a file of the app, by an alias', async () => {
    const collected = await collectPlugins([from('~~/server/own')], () => {}, path => path.replace('~~', '/app') + '.ts', '/app')
    expect([collected.problems, collected.sources[0]!.import.path]).toEqual([[], '/app/server/own.ts'])
    expect(collected.named[0]!.import).toMatchObject({ path: '/app/server/own.ts', name: 'own' })
  })

  it.each(['./server/own', '/app/missing'])('cannot be a relative path or a file that does not exist: %s', async (path) => {
    expect(await messages([from(path)])).toEqual([expect.stringContaining(`comes from '${path}', which is not a file`)])
  })

  it('has to be an installed package, a file or a virtual module', async () => {
    const { sources } = await collect(['there', 'missing', '#virtual', 'virtual:own'].map(from))
    const problems = await checkPluginPackages(sources, async name => name === 'there')
    expect(problems.map(toMessage)).toEqual([
      expect.stringContaining('`autoApi.plugins[1]` comes from \'missing\', which is not an installed package'),
    ])
  })
})

describe('the resources of a plugin', () => {
  const table = createModuleImport('/app/schema.ts', 'notes')
  const notebook = defineAutoApiPlugin(
    { from: 'my-plugins', name: 'notebook' },
    (options: { table: unknown, resource?: string }): AutoApiPlugin => ({
      name: 'notebook',
      resources: registry => registry.register(options.resource ?? 'notes', { schema: options.table as typeof table }),
    }),
  )
  const register = (made: readonly AutoApiPlugin[], before: (registry: Parameters<typeof registerPluginResources>[1]) => void = () => {}) =>
    collectRegistrations(async (registry) => {
      before(registry)
      await registerPluginResources(made, registry)
    }, path => path)

  it('are registered with the module imports of its options', async () => {
    const { made, problems } = await collect([notebook({ table })])
    expect(problems).toEqual([])
    const { registrations } = await register(made)
    expect(registrations).toMatchObject([{ name: 'notes', imports: { schema: table } }])
  })

  it('can be overridden by the app, and cannot have a name twice', async () => {
    const auth = createModuleImport('/app/auth.ts', 'notesAuth')
    const { registrations } = await register([notebook({ table })], registry => registry.override('notes', { authorization: auth }))
    expect(registrations[0]!.imports).toEqual({ schema: table, authorization: auth })
    const { problems } = await register([notebook({ table })], registry => registry.register('notes', { schema: table }))
    expect(problems.map(toMessage)).toEqual([expect.stringContaining('`notes` is registered twice')])
  })

  it('are registered once if two plugins have the same name: by the last one', async () => {
    const { registrations, problems } = await register([notebook({ table, resource: 'first' }), notebook({ table, resource: 'last' })])
    expect([registrations.map(({ name }) => name), problems]).toEqual([['last'], []])
  })

  it('fail the build with the name of the plugin when it throws', async () => {
    const broken: AutoApiPlugin = { name: 'broken', resources: async () => {
      throw new Error('no table')
    } }
    await expect(register([broken])).rejects.toThrow('[auto-api] The plugin `broken` could not register its resources: no table')
    await expect(register([{ name: 'broken', resources: {} as never }])).rejects.toThrow('The plugin `broken` could not register')
  })
})

it('reports a resource that has the name of a plugin\'s path', () => {
  const made: AutoApiPlugin[] = [{ name: 'api-tokens', routes: [
    { method: 'POST', path: '/tokens/introspect', handler: () => ({}) },
    { method: 'GET', path: '/:resource/tokens', operation: 'read', handler: () => ({}) },
  ] }]
  expect(checkPluginPaths(made, ['posts', 'tokens']).map(toMessage)).toEqual([
    '`tokens` is the first segment of the route POST /tokens/introspect of the plugin `api-tokens`, so it cannot be the name of a resource. Choose another name for the resource.',
  ])
  expect(checkPluginPaths(made, ['posts', 'introspect', 'resource'])).toEqual([])
})

describe('a plugin that cannot be passed to the server fails the build with its path and what to do', () => {
  it.each<[string, unknown, string]>([
    [
      'a function',
      { key: () => 'x' },
      '`autoApi.plugins[0].notify(…).key` is an inline function. Name an export with `createModuleImport(path, name)`, or call `notify()` in a file and list the path of the file',
    ],
    [
      'an instance',
      { nested: [{ store: new Map() }] },
      '`autoApi.plugins[0].notify(…).nested[0].store` is an instance of `Map`. Name an export',
    ],
    ['a date', { since: new Date(0) }, '`autoApi.plugins[0].notify(…).since` is an instance of `Date`. Name an export'],
    ['a number that JSON has no form for', { limit: Infinity }, '`autoApi.plugins[0].notify(…).limit` is Infinity. Call'],
    ['a bigint', { limit: 1n }, '`autoApi.plugins[0].notify(…).limit` is 1n. Call'],
    ['a symbol', { key: Symbol('x') }, '`autoApi.plugins[0].notify(…).key` is Symbol(x). Call'],
    ['a key that is a symbol', { nested: { [Symbol('x')]: 1 } }, '`autoApi.plugins[0].notify(…).nested` has a key that is a symbol. Call'],
    [
      'a class',
      {
        store: class {
          hit() {}
        },
      },
      '`autoApi.plugins[0].notify(…).store` is a class. Name an export',
    ],
    [
      'a getter',
      {
        get key() {
          throw new Error('runs')
        },
      },
      '`autoApi.plugins[0].notify(…).key` is an inline getter. Name an export',
    ],
    [
      'an object that contains itself',
      { nested: cyclic },
      '`autoApi.plugins[0].notify(…).nested.list[0]` refers to an object that contains it. Call',
    ],
    // eslint-disable-next-line no-sparse-arrays -- the build must not close the gap
    ['a list with a gap', { list: [1, , 2] }, '`autoApi.plugins[0].notify(…).list` is a list with empty positions or keys. Call'],
  ])('reports %s in the options', async (_what, options, expected) => {
    const [message] = await messages([notify(options)])
    expect(message).toContain(expected)
    expect(message).toContain('docs/6.project/1.upgrading.md#plugins')
  })

  it.each<[string, unknown, string]>([
    ['a plugin that no factory made', { name: 'inline', onRequest: () => {} }, '`autoApi.plugins[0].onRequest` is an inline function'],
    ['a function', () => ({ name: 'inline' }), '`autoApi.plugins[0]` is an inline function'],
    ['a number', 7, '`autoApi.plugins[0]` is 7'],
    ['a file that does not exist', './server/nothing', '`autoApi.plugins[0]` is \'./server/nothing\', which is not a file'],
  ])('reports %s', async (_what, listing, message) => {
    expect((await messages([listing]))[0]).toContain(message)
  })

  it('reports an option that is not a list', async () => {
    expect(await messages({ rateLimit: true })).toEqual([
      '`autoApi.plugins` is { rateLimit: true }. Use a list of plugins and paths of files.',
    ])
  })
})
