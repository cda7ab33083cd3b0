/** The versions of Nuxt that the docs name are those that the tests run with. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/once'
import { SETS } from '../support/versions/sets'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { packages } = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, { readonly version: string }>> }

const OLDEST = SETS['nuxt-4.0']!.nuxt!
const WITH_UI = SETS['nuxt-4.1']!.nuxt!
const NEWEST = packages['node_modules/nuxt']!.version
const [, NIGHTLY] = SETS['nuxt-5']!.nuxt!.split('@')

it.each([
  ['README.md', [OLDEST, WITH_UI, NEWEST]],
  ['docs/1.start/6.nuxt-5.md', [OLDEST, WITH_UI, NEWEST, NIGHTLY, SETS['nuxt-5']!.nitro, SETS['nuxt-5']!.h3]],
  ['CONTRIBUTING.md', [NEWEST]],
  ['test/package/versions.test.ts', [OLDEST, NIGHTLY]],
])('%s names them', (path, versions) => {
  const text = read(path)
  expect(versions.filter(version => !text.includes(version!))).toEqual([])
})

it('the full tier runs each set of another Nuxt', () => {
  const text = read('.ci/run')
  const added = [...text.matchAll(/^ {2}'(nuxt-\S+) /gm)].map(([, name]) => name!)
  expect(added.sort()).toEqual(Object.keys(SETS).filter(name => name.startsWith('nuxt')))
})
