/**
 * The layout: tests are in the folders of their sources, and CONTRIBUTING lists the folders of both. `docs.test.ts` checks that the paths
 * of CONTRIBUTING exist.
 */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LEFT_BY_COMMANDS } from '../support/copy'
import { root } from '../support/once'

/** Names of folders that have tests, but no sources. */
const WITHOUT_SOURCES: Readonly<Record<string, string>> = {
  examples: 'code that the docs show, and files that it needs',
}

const foldersOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !LEFT_BY_COMMANDS.has(entry.name))
    .map(({ name }) => name)

describe('a folder of tests', () => {
  const folders = globSync('test/{unit,plugins}/*/**/*.ts', { cwd: root }).map(file => dirname(file).replaceAll('\\', '/'))
  const parts = (folder: string) => folder.split('/')

  it.each([...new Set(folders)].filter(folder => !parts(folder).some(part => Object.hasOwn(WITHOUT_SOURCES, part))).sort())(
    'has a folder of sources: %s',
    (folder) => {
      const [, kind, first, ...rest] = parts(folder)
      const above = kind === 'plugins' ? 'src/runtime/plugins' : ['build', 'cli'].includes(first!) ? 'src' : 'src/runtime'
      expect(existsSync(join(root, above, first!, ...rest))).toBe(true)
    },
  )

  it.each(Object.keys(WITHOUT_SOURCES))('has no sources, but exists: %s', (name) => {
    expect(folders.some(folder => parts(folder).includes(name))).toBe(true)
  })
})

describe('CONTRIBUTING', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  /** The names in the first column of the tables below a heading, or in the second one of the table of layers. */
  const listed = (heading: string) => {
    const [, section] = new RegExp(`^## ${heading}\\n([^]+?)(?=^## )`, 'm').exec(text)!
    const cells = [...section!.matchAll(/^\| (?:\d \| )?(.+?) \|/gm)].map(([, cell]) => cell!)
    return cells.flatMap(cell => [...cell.matchAll(/`(.+?)`/g)].map(([, name]) => name!))
  }
  const layout = listed('Layout')

  it.each(['src/runtime', 'src/runtime/server'].flatMap(folder => foldersOf(folder).map(name => `${folder}/${name}`)))(
    'lists the layer of %s',
    (folder) => {
      expect(layout.some(path => path === folder || path.startsWith(`${folder}/`))).toBe(true)
    },
  )

  it.each(foldersOf('src/runtime/server/core'))('lists the folder of core: %s', (name) => {
    expect(layout).toContain(name)
  })

  it.each(foldersOf('test'))('lists the folder of tests: %s', (name) => {
    expect(listed('Tests')).toContain(`test/${name}`)
  })
})
