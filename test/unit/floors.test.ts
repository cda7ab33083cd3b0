/** The check of the house bites: every floor, door and circle is crossed once in a planted house, and once where it may be. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bin = join(root, 'node_modules/.bin')

/** Files that are there to be imported. */
const HOUSE = [
  'src/runtime/shared/fact.ts',
  'src/runtime/server/schema/table.ts',
  'src/runtime/server/engines/commit.ts',
  'src/runtime/server/registration.ts',
  'src/runtime/server/core/gate.ts',
  'src/runtime/server/virtual/registry.ts',
  'src/runtime/server/virtual/h3.ts',
  'src/runtime/server/utils/index.ts',
  'src/runtime/app/client.ts',
  'src/runtime/admin/page.ts',
  'src/build/options.ts',
]

/** Packages as far as an import needs them to be there. */
const PACKAGES = ['h3', 'vue', '@nuxt/kit', 'drizzle-orm', 'undeclared', 'better-sqlite3']

/** One crossing each, by a type-only import unless `value` is set. */
const CROSSINGS = [
  { rule: 'floor-0-shared', from: 'src/runtime/shared/a.ts', to: '../server/schema/table' },
  { rule: 'floor-1-schema-engines', from: 'src/runtime/server/schema/a.ts', to: '../core/gate' },
  { rule: 'floor-1-schema-engines', from: 'src/runtime/server/engines/a.ts', to: '../utils/index' },
  { rule: 'floor-2-core', from: 'src/runtime/server/core/a.ts', to: '../utils/index' },
  { rule: 'floor-2-core', from: 'src/runtime/server/core/b.ts', to: '../../app/client' },
  { rule: 'floor-3-street-client-admin', from: 'src/runtime/server/routes/a.ts', to: '../../../build/options' },
  { rule: 'floor-3-street-client-admin', from: 'src/runtime/app/a.ts', to: '../../build/options' },
  { rule: 'floor-4-build', from: 'src/build/a.ts', to: '../module' },
  { rule: 'door-h3', from: 'src/runtime/server/routes/b.ts', to: 'h3' },
  { rule: 'door-alias-h3', from: 'src/runtime/server/core/c.ts', to: '#auto-api/h3' },
  { rule: 'door-generated-modules', from: 'src/runtime/server/core/d.ts', to: '#auto-api/registry' },
  { rule: 'door-generated-modules', from: 'src/runtime/server/http.ts', to: './virtual/registry' },
  { rule: 'door-nuxt-kit', from: 'src/runtime/server/utils/a.ts', to: '@nuxt/kit' },
  { rule: 'door-vue', from: 'src/runtime/server/utils/b.ts', to: 'vue' },
  { rule: 'door-drizzle-dialects', from: 'src/runtime/server/core/e.ts', to: 'drizzle-orm/sqlite-core' },
  { rule: 'build-hands-down-no-code', from: 'src/build/b.ts', to: '../runtime/server/schema/table', value: true },
  { rule: 'client-knows-the-server-by-types', from: 'src/runtime/app/b.ts', to: '../server/core/gate', value: true },
  { rule: 'server-knows-no-client', from: 'src/runtime/server/utils/c.ts', to: '../../admin/page' },
  { rule: 'no-circles', from: 'src/runtime/server/core/circle.ts', to: './round' },
  { rule: 'no-circles', from: 'src/runtime/server/core/round.ts', to: './circle' },
  { rule: 'relative-only', from: 'src/runtime/server/utils/d.ts', to: 'nuxt-auto-api/define' },
  { rule: 'declared-packages-only', from: 'src/runtime/server/core/f.ts', to: 'undeclared' },
  { rule: 'declared-packages-only', from: 'src/runtime/server/engines/b.ts', to: 'better-sqlite3' },
  { rule: 'resolvable', from: 'src/runtime/server/core/g.ts', to: './nowhere' },
]

/** The same imports where they belong. */
const ENTRANCES = [
  { from: 'src/runtime/server/core/ok.ts', to: '../schema/table', value: true },
  { from: 'src/runtime/server/schema/ok.ts', to: '../registration', value: true },
  { from: 'src/runtime/server/http.ok.ts', to: './core/gate', value: true },
  { from: 'src/runtime/server/boot.ts', to: '#auto-api/registry', value: true },
  { from: 'src/runtime/server/engines/ok.ts', to: 'drizzle-orm/sqlite-core', value: true },
  { from: 'src/runtime/server/core/ok2.ts', to: 'drizzle-orm', value: true },
  { from: 'src/runtime/app/ok.ts', to: 'vue', value: true },
  { from: 'src/runtime/app/ok2.ts', to: '../server/core/gate' },
  { from: 'src/build/ok.ts', to: '@nuxt/kit', value: true },
  { from: 'src/build/ok2.ts', to: '../runtime/shared/fact', value: true },
  { from: 'src/build/ok3.ts', to: '../runtime/server/registration' },
  { from: 'src/module.ts', to: './build/options', value: true },
]

interface Violation {
  rule: { name: string }
  from: string
  /** The whole circle; it is reported once, from any of its files. */
  cycle?: { name: string }[]
}

describe('the check of floors, doors and circles', () => {
  const house = mkdtempSync(join(tmpdir(), 'house-'))
  let violations: string[] = []

  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(house, file)), { recursive: true })
    writeFileSync(join(house, file), text)
  }

  beforeAll(() => {
    for (const file of ['package.json', '.dependency-cruiser.mjs', '.dependency-cruiser.tsconfig.json']) cpSync(join(root, file), join(house, file))
    // The checker compiles TypeScript with the compiler it finds from its own place, so the house needs no tools.
    for (const name of PACKAGES) {
      write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
      write(`node_modules/${name}/index.js`, '')
    }
    write('node_modules/drizzle-orm/sqlite-core/index.js', '')
    for (const file of HOUSE) write(file, 'export const x = 1\n')
    for (const { from, to, ...crossing } of [...CROSSINGS, ...ENTRANCES]) {
      const kind = 'value' in crossing ? '' : 'type '
      write(from, `import ${kind}{ x } from '${to}'\nexport ${kind ? 'type Y = typeof x' : 'const y = x'}\nexport const x2 = 1\n`)
    }
    const { summary } = JSON.parse(cruise(house)) as { summary: { violations: Violation[] } }
    violations = summary.violations.flatMap(({ rule, from, cycle }) => [from, ...(cycle ?? []).map(({ name }) => name)].map(file => `${rule.name} ${file}`))
  }, 60_000)

  afterAll(() => rmSync(house, { recursive: true, force: true }))

  it.each(CROSSINGS)('refuses $from importing $to ($rule)', ({ rule, from }) => {
    expect(violations).toContain(`${rule} ${from}`)
  })

  it.each(ENTRANCES)('admits $from importing $to', ({ from }) => {
    expect(violations.filter(violation => violation.endsWith(` ${from}`))).toEqual([])
  })
})

/** Runs the command line the lint script runs; it exits with the number of violations, so a failure is an answer. */
function cruise(cwd: string): string {
  try {
    return execFileSync(join(bin, 'depcruise'), ['--config', '.dependency-cruiser.mjs', 'src', '-T', 'json'], { cwd, encoding: 'utf8' })
  }
  catch (error) {
    const { stdout, stderr } = error as { stdout?: string, stderr?: string }
    if (stdout?.startsWith('{')) return stdout
    throw new Error(`the checker did not run: ${stderr}`, { cause: error })
  }
}
