/** The list of plugins at build time: what the server can make again, and what it cannot, by its place. */
import { describe, expect, it } from 'vitest'
import { collectPlugins } from '../../../src/build/plugins'
import { toMessage } from '../../../src/build/problem'
import { generatePlugins } from '../../../src/build/virtual/plugins'
import { createModuleImport } from '../../../src/module'
import { defineAutoApiPlugin } from '../../../src/runtime/server/plugin/contract'

const tell = defineAutoApiPlugin({ from: 'my-plugins', name: 'tell' }, (options?: unknown, more?: unknown) => ({ name: 'tell', onRequest: () => [options, more] }))
const files = new Set(['/app/server/api-plugins', '/module/plugin.ts'])
const collect = (option: unknown, hook: Parameters<typeof collectPlugins>[1] = () => {}) => collectPlugins(option, hook, path => path.startsWith('/') && !files.has(path) ? undefined : path, '/app')
const messages = async (option: unknown) => (await collect(option)).problems.map(toMessage)

describe('what is listed', () => {
  it('may be factories and files, mixed, and comes after what modules list', async () => {
    const { sources, problems } = await collect([tell({ a: [1, 'x', null, true] }), './server/api-plugins'], registry => registry.add(createModuleImport('/module/plugin.ts', 'extra')))
    expect(problems).toEqual([])
    expect(generatePlugins(sources, ['tell'], ['GET /posts/:'])).toBe(`import { extra as plugin0 } from "/module/plugin.ts";
import { tell as plugin1 } from "my-plugins";
import { default as plugin2 } from "/app/server/api-plugins";

export function plugins() {
  return [
    { where: "autoApi:registerPlugins[0]", listed: () => plugin0 },
    { where: "autoApi.plugins[0]", listed: () => plugin1({"a":[1,"x",null,true]}) },
    { where: "autoApi.plugins[1]", listed: () => plugin2 },
  ]
}

export const built = ["tell"]
export const taken = ["GET /posts/:"]
`)
  })

  it.each([['a path', './server/api-plugins'], ['a reference', createModuleImport('/module/plugin.ts', 'extra')]])('may be %s alone', async (_what, option) => {
    expect((await collect(option)).sources).toHaveLength(1)
  })

  it('may be nothing', async () => {
    expect(await collect(undefined)).toEqual({ sources: [], made: [], named: [], problems: [] })
  })

  it('may be given exports of files, which the server imports and hands to the factory', async () => {
    const { sources, problems } = await collect([tell({ auth: createModuleImport('/module/plugin.ts', 'extra'), list: [createModuleImport('my-package', 'default')], since: undefined })])
    expect(problems).toEqual([])
    const generated = generatePlugins(sources, [], [])
    expect(generated).toContain('import { extra as option0 } from "/module/plugin.ts";\nimport { default as option1 } from "my-package";')
    expect(generated).toContain('plugin0({"auth":option0,"list":[option1]})')
  })

  it('is not given what no file exports', async () => {
    expect(await messages([tell({ nested: [{ auth: createModuleImport('/nowhere', 'auth') }] })])).toEqual(['`autoApi.plugins[0].tell(…).nested.0.auth` names an export of \'/nowhere\', where there is no file. Give the path of a file, absolute or behind an alias.'])
  })

  it('is made again with every argument', async () => {
    expect(generatePlugins((await collect([tell(undefined, 2)])).sources, [], [])).toContain('plugin0(undefined, 2)')
  })
})

describe('what the server cannot make again fails the build, with its place and what to do', () => {
  it.each<[string, unknown, string]>([
    ['a function', { key: () => 'x' }, '`autoApi.plugins[0].tell(…).key` is an inline function. Call `tell()` in a file and list the path of the file'],
    ['an instance', { nested: [{ store: new Map() }] }, '`autoApi.plugins[0].tell(…).nested[0].store` is an instance of `Map`. Call'],
    ['a date', { since: new Date(0) }, '`autoApi.plugins[0].tell(…).since` is an instance of `Date`. Call'],
    ['a number that JSON does not know', { limit: Infinity }, '`autoApi.plugins[0].tell(…).limit` is Infinity. Call'],
    ['a bigint', { limit: 1n }, '`autoApi.plugins[0].tell(…).limit` is 1n. Call'],
  ])('%s among its options', async (_what, options, message) => {
    const [told] = await messages([tell(options)])
    expect(told).toContain(message)
    expect(told).toContain('docs/upgrading.md#plugins')
  })

  it.each<[string, unknown, string]>([
    ['a plugin that no factory made', { name: 'inline', onRequest: () => {} }, '`autoApi.plugins[0].onRequest` is an inline function'],
    ['a function', () => ({ name: 'inline' }), '`autoApi.plugins[0]` is an inline function'],
    ['a number', 7, '`autoApi.plugins[0]` is 7'],
    ['a file that there is not', './server/nothing', '`autoApi.plugins[0]` is \'./server/nothing\', where there is no file'],
  ])('%s', async (_what, listing, message) => {
    expect((await messages([listing]))[0]).toContain(message)
  })

  it('a list that is none', async () => {
    expect(await messages({ rateLimit: true })).toEqual(['`autoApi.plugins` is { rateLimit: true }. Use a list of plugins and paths of files.'])
  })
})
