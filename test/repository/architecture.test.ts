/**
 * Checks the layer rules with forbidden and allowed imports in a sample project, that no folders of `src` import each other in a cycle, and
 * where versions are named.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bin = join(root, 'node_modules/.bin')

/** Files that other files import. */
const FILES = [
  'src/runtime/shared/fact.ts',
  'src/runtime/server/schema/table.ts',
  'src/runtime/server/engines/commit.ts',
  'src/runtime/server/registration.ts',
  'src/runtime/server/core/authorize.ts',
  'src/runtime/server/virtual/registry.ts',
  'src/runtime/server/virtual/h3.ts',
  'src/runtime/server/utils/index.ts',
  'src/runtime/server/kit/call.ts',
  'src/runtime/server/plugin/contract.ts',
  'src/runtime/plugins/slices.ts',
  'src/runtime/plugins/c/index.ts',
  'src/runtime/plugins/c/app/index.ts',
  'src/runtime/plugins/c/server/entries.ts',
  'src/runtime/plugins/c/server/index.ts',
  'src/runtime/app/client.ts',
  'src/runtime/admin/page.ts',
  'src/runtime/admin/kit/button.ts',
  'src/runtime/admin/model/messages.ts',
  'src/runtime/admin/model/slots.ts',
  'src/runtime/devtools/parts.ts',
  'src/runtime/testing/suite.ts',
  'src/build/options.ts',
]

/** Packages that an import must be able to resolve. */
const PACKAGES = ['h3', 'vue', '@nuxt/kit', 'drizzle-orm', 'undeclared', 'better-sqlite3']

/** Each row is one violation, by a type-only import unless `value` is set. */
const FORBIDDEN = [
  { rule: 'layer-0-shared', from: 'src/runtime/shared/a.ts', to: '../server/schema/table' },
  { rule: 'layer-1-schema-engines', from: 'src/runtime/server/schema/a.ts', to: '../core/authorize' },
  { rule: 'layer-1-schema-engines', from: 'src/runtime/server/engines/a.ts', to: '../utils/index' },
  { rule: 'layer-2-core', from: 'src/runtime/server/core/a.ts', to: '../utils/index' },
  { rule: 'layer-2-core', from: 'src/runtime/server/core/b.ts', to: '../../app/client' },
  { rule: 'layer-3-server-client', from: 'src/runtime/server/routes/a.ts', to: '../../../build/options' },
  { rule: 'layer-3-server-client', from: 'src/runtime/app/a.ts', to: '../../build/options' },
  { rule: 'layer-4-build', from: 'src/build/a.ts', to: '../module' },
  { rule: 'entry-h3', from: 'src/runtime/server/routes/b.ts', to: 'h3' },
  { rule: 'entry-alias-h3', from: 'src/runtime/server/core/c.ts', to: '#auto-api/h3' },
  { rule: 'entry-alias-h3', from: 'src/runtime/server/http/a.ts', to: '#auto-api/h3' },
  { rule: 'entry-generated-modules', from: 'src/runtime/server/core/d.ts', to: '#auto-api/registry' },
  { rule: 'entry-generated-modules', from: 'src/runtime/server/http/handlers.ts', to: '../virtual/registry' },
  { rule: 'entry-nuxt-kit', from: 'src/runtime/server/utils/a.ts', to: '@nuxt/kit' },
  { rule: 'entry-vue', from: 'src/runtime/server/utils/b.ts', to: 'vue' },
  { rule: 'entry-drizzle-dialects', from: 'src/runtime/server/core/e.ts', to: 'drizzle-orm/sqlite-core' },
  { rule: 'build-passes-no-code', from: 'src/build/b.ts', to: '../runtime/server/schema/table', value: true },
  { rule: 'client-imports-server-types-only', from: 'src/runtime/app/b.ts', to: '../server/core/authorize', value: true },
  { rule: 'server-imports-no-client', from: 'src/runtime/server/utils/c.ts', to: '../../admin/page' },
  { rule: 'client-below-the-admin', from: 'src/runtime/app/d.ts', to: '../admin/page' },
  { rule: 'plugins-use-the-kit', from: 'src/runtime/plugins/a/index.ts', to: '../../server/core/authorize' },
  { rule: 'plugins-use-the-kit', from: 'src/runtime/plugins/b/index.ts', to: '../../server/utils/index', value: true },
  { rule: 'plugins-in-the-browser', from: 'src/runtime/plugins/d/app/index.ts', to: '../../../server/kit/call' },
  { rule: 'plugins-in-the-browser', from: 'src/runtime/plugins/d/app/a.ts', to: '../../c/server/index' },
  { rule: 'plugins-keep-the-browser-out', from: 'src/runtime/plugins/e/index.ts', to: '../c/app/index' },
  { rule: 'plugins-meet-at-their-index', from: 'src/runtime/plugins/d/index.ts', to: '../c/server/entries' },
  { rule: 'server-names-no-plugin', from: 'src/runtime/server/kit/a.ts', to: '../../plugins/c/index' },
  { rule: 'server-names-no-plugin', from: 'src/runtime/app/c.ts', to: '../plugins/c/index' },
  { rule: 'admin-names-no-plugin', from: 'src/runtime/admin/a.ts', to: '../plugins/c/app/index' },
  { rule: 'plugins-use-the-admin-kit', from: 'src/runtime/plugins/d/admin/a.ts', to: '../../../admin/page' },
  { rule: 'plugins-use-the-admin-kit', from: 'src/runtime/plugins/d/admin/b.ts', to: '../../../admin/model/slots', value: true },
  { rule: 'plugins-in-the-browser', from: 'src/runtime/plugins/d/admin/c.ts', to: '../../c/server/index' },
  { rule: 'kit-below-the-plugin-mechanism', from: 'src/runtime/server/kit/b.ts', to: '../plugin/contract' },
  { rule: 'tests-stay-out-of-apps', from: 'src/runtime/server/utils/e.ts', to: '../../testing/suite' },
  { rule: 'devtools-is-a-page-of-its-own', from: 'src/runtime/devtools/a.ts', to: '../server/utils/index' },
  { rule: 'devtools-is-a-page-of-its-own', from: 'src/runtime/devtools/b.ts', to: '../app/client', value: true },
  { rule: 'devtools-stays-out-of-apps', from: 'src/runtime/admin/b.ts', to: '../devtools/parts', value: true },
  { rule: 'no-cycles', from: 'src/runtime/server/core/cycle.ts', to: './cycle-2' },
  { rule: 'no-cycles', from: 'src/runtime/server/core/cycle-2.ts', to: './cycle' },
  { rule: 'relative-only', from: 'src/runtime/server/utils/d.ts', to: 'nuxt-auto-api/define' },
  { rule: 'declared-packages-only', from: 'src/runtime/server/core/f.ts', to: 'undeclared' },
  { rule: 'declared-packages-only', from: 'src/runtime/server/engines/b.ts', to: 'better-sqlite3' },
  { rule: 'resolvable', from: 'src/runtime/server/core/g.ts', to: './nowhere' },
]

/** The same imports where they are allowed. */
const ALLOWED = [
  { from: 'src/runtime/server/core/ok.ts', to: '../schema/table', value: true },
  { from: 'src/runtime/server/schema/ok.ts', to: '../registration', value: true },
  { from: 'src/runtime/server/kit/ok.ts', to: '../core/authorize', value: true },
  { from: 'src/runtime/plugins/ok/index.ts', to: '../../server/kit/call', value: true },
  { from: 'src/runtime/plugins/ok/a.ts', to: '../../server/plugin/contract', value: true },
  { from: 'src/runtime/plugins/ok/b.ts', to: '../../shared/fact', value: true },
  { from: 'src/runtime/plugins/ok/d.ts', to: '../c/server/index', value: true },
  { from: 'src/runtime/plugins/ok/c.ts', to: './a', value: true },
  { from: 'src/runtime/server/http/ok.ts', to: '../core/authorize', value: true },
  { from: 'src/runtime/server/http/platform/ok.ts', to: '#auto-api/h3', value: true },
  { from: 'src/runtime/server/runtime.ts', to: '#auto-api/registry', value: true },
  { from: 'src/runtime/server/engines/ok.ts', to: 'drizzle-orm/sqlite-core', value: true },
  { from: 'src/runtime/testing/ok.ts', to: 'drizzle-orm/sqlite-core', value: true },
  { from: 'src/runtime/server/core/ok2.ts', to: 'drizzle-orm', value: true },
  { from: 'src/runtime/plugins/ok/app/index.ts', to: '../../../app/client', value: true },
  { from: 'src/runtime/plugins/ok/app/a.ts', to: 'vue', value: true },
  { from: 'src/runtime/plugins/ok/admin/ok.ts', to: '../../../admin/kit/button', value: true },
  { from: 'src/runtime/plugins/ok/admin/ok2.ts', to: '../../../admin/model/messages', value: true },
  { from: 'src/runtime/plugins/ok/admin/ok3.ts', to: 'vue', value: true },
  { from: 'src/build/ok4.ts', to: '../runtime/plugins/slices', value: true },
  { from: 'src/runtime/devtools/ok.ts', to: '../shared/fact', value: true },
  { from: 'src/runtime/devtools/ok2.ts', to: 'vue', value: true },
  { from: 'src/runtime/app/ok.ts', to: 'vue', value: true },
  { from: 'src/runtime/admin/ok.ts', to: '../app/client', value: true },
  { from: 'src/runtime/app/ok2.ts', to: '../server/core/authorize' },
  { from: 'src/build/ok.ts', to: '@nuxt/kit', value: true },
  { from: 'src/build/ok2.ts', to: '../runtime/shared/fact', value: true },
  { from: 'src/build/ok3.ts', to: '../runtime/server/registration' },
  { from: 'src/module.ts', to: './build/options', value: true },
]

interface Violation {
  rule: { name: string }
  from: string
  /** The whole cycle; it is reported once, from any of its files. */
  cycle?: { name: string }[]
}

describe('the architecture check', () => {
  const project = mkdtempSync(join(tmpdir(), 'project-'))
  let violations: string[] = []

  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), text)
  }

  beforeAll(() => {
    for (const file of ['package.json', '.dependency-cruiser.mjs', '.dependency-cruiser.tsconfig.json'])
      cpSync(join(root, file), join(project, file))
    // The checker uses the TypeScript compiler beside itself, so the project needs no tools.
    for (const name of PACKAGES) {
      write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
      write(`node_modules/${name}/index.js`, '')
    }
    write('node_modules/drizzle-orm/sqlite-core/index.js', '')
    for (const file of FILES) write(file, 'export const x = 1\n')
    for (const { from, to, ...forbidden } of [...FORBIDDEN, ...ALLOWED]) {
      const kind = 'value' in forbidden ? '' : 'type '
      write(from, `import ${kind}{ x } from '${to}'\nexport ${kind ? 'type Y = typeof x' : 'const y = x'}\nexport const x2 = 1\n`)
    }
    const { summary } = JSON.parse(cruise(project)) as { summary: { violations: Violation[] } }
    violations = summary.violations.flatMap(({ rule, from, cycle }) =>
      [from, ...(cycle ?? []).map(({ name }) => name)].map(file => `${rule.name} ${file}`),
    )
  }, 60_000)

  afterAll(() => rmSync(project, { recursive: true, force: true }))

  it.each(FORBIDDEN)('refuses $from importing $to ($rule)', ({ rule, from }) => {
    expect(violations).toContain(`${rule} ${from}`)
  })

  it.each(ALLOWED)('accepts $from importing $to', ({ from }) => {
    expect(violations.filter(violation => violation.endsWith(` ${from}`))).toEqual([])
  })
})

type Edge = readonly [from: string, to: string]

/** Imports between files as imports between the children of one folder: files and subfolders. */
function childEdges(folder: string, imports: readonly Edge[]): readonly Edge[] {
  const inside = imports.filter(edge => edge.every(file => file.startsWith(`${folder}/`)))
  const child = (file: string) => file.slice(folder.length + 1).split('/')[0]!
  return inside.map(([from, to]): Edge => [child(from), child(to)]).filter(([from, to]) => from !== to)
}

/** The edges that remain after repeatedly removing those to children without imports: the cycles. */
function cyclic(edges: readonly Edge[]): readonly Edge[] {
  const remaining = edges.filter(([, to]) => edges.some(([from]) => from === to))
  return remaining.length === edges.length ? remaining : cyclic(remaining)
}

interface Module {
  readonly source: string
  readonly dependencies: readonly { readonly resolved: string, readonly dynamic: boolean, readonly dependencyTypes: readonly string[] }[]
}

/** The modules that a file loads: by imports of values, and not by `import()`. */
function loadedBy(file: string, modules: readonly Module[]): ReadonlySet<string> {
  const bySource = new Map(modules.map(module => [module.source, module]))
  const loaded = new Set<string>()
  const load = (source: string) => {
    if (loaded.has(source)) return
    loaded.add(source)
    for (const { resolved, dynamic, dependencyTypes } of bySource.get(source)?.dependencies ?? [])
      if (!dynamic && !dependencyTypes.includes('type-only')) load(resolved)
  }
  load(file)
  return loaded
}

describe('the folders of src', () => {
  let modules: readonly Module[]
  beforeAll(() => {
    modules = (JSON.parse(cruise(root)) as { modules: readonly Module[] }).modules
  }, 60_000)

  it('load no code of the database when nuxt.config lists plugins', () => {
    const loaded = [...loadedBy('src/runtime/plugins/index.ts', modules)]
    expect(loaded.length).toBeGreaterThan(100)
    const ofDatabase = /^src\/runtime\/server\/(?:drizzle|engines\/dialects|routes|api|core\/(?:read|write|commit|pipeline))\b/
    expect(loaded.filter(file => ofDatabase.test(file))).toEqual([])
  })

  it('import each other in one direction, at every level', () => {
    const imports = modules.flatMap(({ source, dependencies }) => dependencies.map(({ resolved }): Edge => [source, resolved]))
    const folders = new Set(
      modules
        .flatMap(({ source }) => source.split('/').map((_, index, parts) => parts.slice(0, index).join('/')))
        .filter(folder => folder.startsWith('src')),
    )
    const cycles = [...folders].flatMap(folder => cyclic(childEdges(folder, imports)).map(edge => `${folder}: ${edge.join(' → ')}`))
    expect(imports.length).toBeGreaterThan(500)
    expect(cycles).toEqual([])
  }, 60_000)
})

it('the runtime names a version of h3, Nitro or Nuxt only in its platforms', () => {
  const runtime = join(root, 'src/runtime')
  const files = readdirSync(runtime, { recursive: true, encoding: 'utf8' }).filter(file => /\.(?:ts|vue)$/.test(file))
  const named = files.filter(file => /\b(?:h3|Nitro|Nuxt) \d/.test(readFileSync(join(runtime, file), 'utf8')))
  expect(named.filter(file => !file.startsWith('server/http/platform/'))).toEqual([])
  expect(named.length).toBeGreaterThan(2)
})

/** Runs the command of `lint:layers`. It exits with the number of violations, so a failure with JSON is a result. */
function cruise(cwd: string): string {
  try {
    return execFileSync(join(bin, 'depcruise'), ['--config', '.dependency-cruiser.mjs', 'src', '-T', 'json'], {
      cwd,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
  }
  catch (error) {
    const { stdout, stderr } = error as { stdout?: string, stderr?: string }
    if (stdout?.startsWith('{')) return stdout
    throw new Error(`The checker failed: ${stderr}`, { cause: error })
  }
}
