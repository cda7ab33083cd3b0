/** Checks the generated modules: they contain only imports and data, and have the exports of their stand-ins. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModuleImport } from '../../../src/build/module-import'
import { checkRegistrations, type RegistrationOptions } from '../../../src/build/registrations'
import { resolveOptions } from '../../../src/build/options'
import { generateConfig } from '../../../src/build/virtual/config'
import { generateRegistry } from '../../../src/build/virtual/registry'
import * as configStandIn from '../../../src/runtime/server/virtual/config'
import * as registryStandIn from '../../../src/runtime/server/virtual/registry'

let dir: string
let count = 0

beforeAll(() => {
  // The quotes in the path must be escaped in the generated code.
  dir = mkdtempSync(join(tmpdir(), 'auto-api \'" '))
  writeFileSync(
    join(dir, 'schema.mjs'),
    'export const posts = { table: "posts" }\nexport const tags = { table: "tags" }\nexport const posts_tags = {}\n',
  )
  writeFileSync(join(dir, 'auth.mjs'), 'export default { permissions: {} }\nexport { x as class }\nconst x = 7\n')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const registryOf = (entries: Record<string, RegistrationOptions>) => generateRegistry(
  checkRegistrations(Object.entries(entries).map(([name, registration]) => ({ name, registration })), path => path).registrations,
)
const from = (file: string, name: string) => createModuleImport(join(dir, file), name)

function write(code: string): string {
  const file = join(dir, `generated-${count++}.mjs`)
  writeFileSync(file, code)
  return file
}

async function load(code: string): Promise<Record<string, unknown>> {
  const file = write(code)
  return import(/* @vite-ignore */ pathToFileURL(file).href) as Promise<Record<string, unknown>>
}

describe('#auto-api/registry', () => {
  it('exports what its stand-in exports', async () => {
    const generated = await load(registryOf({ posts: { schema: from('schema.mjs', 'posts') } }))
    expect(Object.keys(generated).sort()).toEqual(Object.keys(registryStandIn).sort())
  })

  it('equals its stand-in without resources', async () => {
    const { registrations, schemaModules } = await load(registryOf({})) as unknown as typeof registryStandIn
    expect([registrations(), schemaModules()]).toEqual([registryStandIn.registrations(), registryStandIn.schemaModules()])
  })

  it('returns the registered exports by key, and the data unchanged', async () => {
    const metadata = { 'icon': '</script>\u2028', 'a-b': ['`${x}`', '\'"\\', null], 'constructor': 1 }
    const { registrations } = (await load(
      registryOf({
        'posts': {
          schema: from('schema.mjs', 'posts'),
          authorization: from('auth.mjs', 'default'),
          hooks: from('auth.mjs', 'class'),
          hiddenFields: ['se\'cret'],
          protectedFields: [],
          metadata,
        },
        'blog-tags': { schema: from('schema.mjs', 'tags') },
      }),
    )) as unknown as typeof registryStandIn
    expect(registrations()).toEqual([
      {
        name: 'posts',
        schema: { table: 'posts' },
        authorization: { permissions: {} },
        hooks: 7,
        hiddenFields: ['se\'cret'],
        protectedFields: [],
        metadata,
      },
      { name: 'blog-tags', schema: { table: 'tags' } },
    ])
  })

  it('returns each schema file once, with all of its exports', async () => {
    const { schemaModules } = await load(registryOf({
      posts: { schema: from('schema.mjs', 'posts') },
      tags: { schema: from('schema.mjs', 'tags'), authorization: from('auth.mjs', 'default') },
    })) as unknown as typeof registryStandIn
    expect(schemaModules().map(module => Object.keys(module).sort())).toEqual([['posts', 'posts_tags', 'tags']])
  })

  it('imports each file by name in one statement, so that a missing export fails the bundle', async () => {
    const code = registryOf({ posts: { schema: from('schema.mjs', 'posts') }, tags: { schema: from('schema.mjs', 'missing') } })
    expect(code.match(/^import /gm)).toHaveLength(2)
    const { status, stderr } = spawnSync(process.execPath, [write(code)], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('does not provide an export named \'missing\'') })
  })

  it('contains only imports and functions that return a literal', () => {
    const code = registryOf({ posts: { schema: from('schema.mjs', 'posts'), metadata: { a: 1 } } })
    const statements = code.split('\n').filter(line => /^\S/.test(line) && line !== '}')
    expect(statements).toEqual([
      expect.stringMatching(/^import \{ posts as import0 \} from /),
      expect.stringMatching(/^import \* as schema0 from /),
      'export function registrations() {',
      'export function schemaModules() {',
    ])
  })
})

describe('#auto-api/config', () => {
  it('exports the resolved options, as its stand-in exports the defaults', async () => {
    const defaults = await load(generateConfig(resolveOptions({}).config))
    expect(Object.keys(defaults)).toEqual(Object.keys(configStandIn))
    expect(defaults.config).toEqual(configStandIn.config)

    const { config } = resolveOptions({ prefix: '/v1', pagination: { maxLimit: 7 }, multiTenancy: { scopedResources: ['posts'] } })
    expect((await load(generateConfig(config))).config).toEqual(config)
    expect(await load(generateConfig(config, '/shop'))).toMatchObject({ config, eventBase: '/shop', server: true })
  })
})
