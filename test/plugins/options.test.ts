/**
 * One table over all factories of `nuxt-auto-api/plugins`: which options fail the build, and with which message. A factory joins the table
 * when it is exported: without a row here, this test fails.
 */
import { describe, expect, it } from 'vitest'
import { collectPlugins } from '../../src/build/plugins'
import { toMessage } from '../../src/build/problem'
import { generatePlugins } from '../../src/build/virtual/plugins'
import { createModuleImport } from '../../src/module'
import type { AutoApiPlugin, MadeByFactory } from '../../src/runtime/server/plugin/contract'
import { EXPORTED, FACTORIES, type CreatePlugin as Create } from '../support/plugins'

const rows = [...EXPORTED].map(([name, create]) => ({ name, create, ...FACTORIES[name]! }))

class Store {
  hit() {
    return { count: 1, left: 1 }
  }
}

const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic

/** Values that the generated module cannot create again. */
const UNSERIALIZABLE: Readonly<Record<string, unknown>> = {
  'a function': () => 'x',
  'a class': Store,
  'an instance of a class': new Store(),
  'a map': new Map(),
  'a date': new Date(0),
  'a regular expression': /x/,
  'a promise': Promise.resolve(),
  'a symbol': Symbol('x'),
  'a bigint': 1n,
  'NaN': Number.NaN,
  'an infinite number': Infinity,
  'an object that contains itself': cyclic,
  'an object with a function': { api: { getSession: () => null }, hit: () => null },
  'an object with a getter': { get hit() { return () => null } },
  'an object with a key that is a symbol': { [Symbol('x')]: 1 },
}

/** Lists the plugin in `nuxt.config`: the messages of the failed build. */
async function build(create: Create, options: unknown): Promise<readonly string[]> {
  let listed: AutoApiPlugin
  try {
    listed = create(options)
  }
  catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return [(error as TypeError).message]
  }
  const { problems } = await collectPlugins([listed], () => {}, path => path, '/app')
  return problems.map(toMessage)
}

/** The options of a factory, as its own message lists them. */
async function optionsOf(create: Create, valid: object): Promise<string[]> {
  const [message = ''] = await build(create, { ...valid, qqqqqqqq: 1 })
  return /The options are (.*)\.$/.exec(message)?.[1]?.split(', ') ?? []
}

it('has a row for each exported factory', () => {
  expect([...EXPORTED.keys()].sort()).toEqual(Object.keys(FACTORIES).sort())
})

describe.each(rows)('$name', ({ name, create, valid, code, mistyped: [typed, meant] }) => {
  it('is created from plain data, by the build and again by the server', async () => {
    const made = create(valid) as AutoApiPlugin & MadeByFactory
    expect(made.__factoryCall()).toEqual({ from: 'nuxt-auto-api/plugins', name, options: [valid] })
    expect(await build(create, valid)).toEqual([])
  })

  it('lists every option in its row of the table', async () => {
    expect(await optionsOf(create, valid)).toEqual(Object.keys(valid))
  })

  it('fails the build for an unknown option and suggests the nearest one', async () => {
    const [message] = await build(create, { ...valid, [typed]: valid[meant] })
    expect(message).toContain(`\`${name}.${typed}\` is not an option. Did you mean \`${meant}\`? The options are `)
  })

  it.each(['constructor', '__proto__', 'toString'])('fails the build for the unknown option %s', async (option) => {
    const [message] = await build(create, JSON.parse(`{"${option}":1}`))
    expect(message).toContain(`\`${name}.${option}\` is not an option.`)
  })

  it.each([null, 7, 'text', [], () => {}, true])('fails the build for %j instead of options', async (options) => {
    expect((await build(create, options))[0]).toMatch(new RegExp(`\`${name}\` is given .*\\. Use an object of options\\.`))
  })

  it.each(Object.keys(UNSERIALIZABLE))('fails the build for each option that is %s, and names the plugin and the option', async (what) => {
    for (const option of Object.keys(valid)) {
      const messages = await build(create, { ...valid, [option]: UNSERIALIZABLE[what] })
      expect(messages, option).toHaveLength(1)
      expect(messages[0], option).toMatch(new RegExp(`\`(?:${name}|autoApi\\.plugins\\[0\\]\\.${name}\\(…\\))\\.${option}\\b.*\` `))
      expect(messages[0], option).toMatch(/\. (?:Use|Call|Name|The operations are|The options are) /)
    }
  })

  it('fails the build for null in any option, and says what is valid', async () => {
    for (const option of Object.keys(valid))
      expect((await build(create, { ...valid, [option]: null }))[0]).toMatch(new RegExp(`\`${name}\\.${option}\` is null\\. Use .+\\.`))
  })

  it('accepts a module import where it accepts code, and nowhere else', async () => {
    const named = createModuleImport('/app/server/code', 'named')
    const accepted: string[] = []
    for (const option of Object.keys(valid))
      if ((await build(create, { ...valid, [option]: named })).length === 0) accepted.push(option)
    expect(accepted).toEqual(code)
    for (const option of code) {
      const { sources } = await collectPlugins([create({ ...valid, [option]: named })], () => {}, path => path, '/app')
      expect(generatePlugins(sources, [], [])).toContain('import { named as option0 } from "/app/server/code"')
    }
  })
})
