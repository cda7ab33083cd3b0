/** The tables of tiers: each test file belongs to one project, so that some tier runs it, and each row of the tables to a file. */
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/once'
import { DRIZZLE_1, FULL_ONLY, PROJECTS, type ProjectName } from '../support/tiers'

const files = globSync('test/**/*.{test,test-d}.ts', { cwd: root, exclude: ['**/node_modules/**', '**/.output/**', '**/.nuxt/**'] })
  .map(file => file.replaceAll('\\', '/')).sort()

const names = Object.keys(PROJECTS) as ProjectName[]
const lists = (patterns: readonly string[], file: string) => patterns.some(pattern => matchesGlob(file, pattern))

describe('the tiers', () => {
  it.each(files)('include %s', (file) => {
    expect(names.some(name => lists(PROJECTS[name], file)) || lists(DRIZZLE_1.push, file)).toBe(true)
  })

  it.each([...names.flatMap(name => PROJECTS[name]), ...Object.keys(FULL_ONLY), ...DRIZZLE_1.push, ...DRIZZLE_1.full])(
    'have a file for %s',
    (pattern) => {
      expect(files.some(file => matchesGlob(file, pattern))).toBe(true)
    },
  )

  it('run on push what is not in the list of the full tier', () => {
    const left = files.filter(file => lists(Object.keys(FULL_ONLY), file))
    expect(left.length).toBeLessThan(files.length / 5)
  })

  it('run flaky tests in the full tier only', () => {
    const rows = [...readFileSync(join(root, 'test/flaky.md'), 'utf8').matchAll(/^\| `(.+?)` \|/gm)].map(([, file]) => file!)
    for (const file of rows) expect(lists(Object.keys(FULL_ONLY), file)).toBe(true)
  })
})
