/** The commands of the docs that install the package: npm resolves each of them, word by word, in an empty app that has only `nuxt`. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listPages } from '../../build.docs'
import { findSnippets } from '../../src/cli/snippets'
import { root } from '../support/once'
import { createFolder, packPackage, run } from './tarball'

const pages = ['README.md', ...listPages(root).map(name => `docs/${name}`)]
/** The commands that install the package or the package of its composables. The others do not depend on this package. */
const lines = pages.flatMap(page => findSnippets(readFileSync(join(root, page), 'utf8'))
  .filter(({ language }) => language === 'sh')
  .flatMap(({ code }) => code.split('\n'))
  .filter(line => /^npm install .*(?:nuxt-auto-api|vue-query)/.test(line))
  .map(line => ({ page, line })))

const nuxt = (JSON.parse(readFileSync(join(root, 'node_modules/nuxt/package.json'), 'utf8')) as { version: string }).version

/** Only resolves the packages, which is where a command of the docs can fail, and takes seconds instead of minutes. */
const RESOLVE = ['--package-lock-only', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']

describe('the command to install', () => {
  let tarball: string
  const folders: string[] = []
  beforeAll(async () => {
    tarball = await packPackage()
  })
  afterAll(() => folders.forEach(folder => rmSync(folder, { recursive: true })))

  /** An app in which `npm install` has run. Its lock file fixes the version of Vue. */
  function createEmptyApp(): string {
    const folder = createFolder()
    folders.push(folder)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty-app', private: true, dependencies: { nuxt: `^${nuxt}` } }))
    run(folder, 'npm', 'install', ...RESOLVE)
    return folder
  }

  it('is in the guide and on the page of the admin', () => {
    expect(lines.map(({ page }) => page)).toEqual(['docs/1.start/1.getting-started.md', 'docs/2.guides/18.admin.md'])
  })

  it.each(lines)('works in an empty app: $page, $line', ({ line }) => {
    const folder = createEmptyApp()
    const [command, ...words] = line.split(/\s+/).map(word => word === 'nuxt-auto-api' ? tarball : word)
    run(folder, command!, ...words, ...RESOLVE)
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>
    }
    expect(packages['node_modules/@tanstack/vue-query']).toBeDefined()
    expect(packages['node_modules/vue']!.version).toMatch(/^3\./)
  })
})
