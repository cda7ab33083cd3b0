/** Builds the fixture apps. A build is kept until one of the files it is made of changes, so test files and runs share it. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { environment, root } from './environment'

export interface BuildOptions {
  /** Which of the fixture's builds, where it has more than one: its output is in `.output/<variant>`. */
  readonly variant?: string
  /** More environment variables that the fixture's `nuxt.config` reads. */
  readonly env?: Readonly<Record<string, string>>
}

/** @returns the folder of the built server. @throws With what was printed when the build fails. */
export function buildFixture(name: string, { variant, env = {} }: BuildOptions = {}): string {
  const folder = folderOf(name)
  const output = join(folder, '.output', variant ?? '')
  const key = keyOf(name, JSON.stringify([variant, env]))
  const stamp = join(output, 'built-from')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === key) return output

  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/nuxi'), ['build', folder], {
    cwd: root, env: { ...environment, ...variant && { FIXTURE_VARIANT: variant }, ...env }, encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the build failed\n${stdout}\n${stderr}`)
  writeFileSync(stamp, key)
  return output
}

/** The playground is built like a fixture. */
export const folderOf = (name: string) => join(root, name === 'playground' ? name : `test/fixtures/${name}`)

/** What a build reads besides its own fixture; the fixture `edge` is made of the playground's files. */
const SHARED = ['src', 'playground', 'test/support/aliases.ts', 'package.json', 'package-lock.json']
const GENERATED = new Set(['node_modules', '.nuxt', '.output', '.data', 'dist'])

function keyOf(name: string, options: string): string {
  const hash = createHash('sha256').update(options).update(process.version)
  for (const path of [...SHARED.map(path => join(root, path)), folderOf(name)]) {
    const files = statSync(path).isFile() ? [path] : globSync('**/*', { cwd: path, exclude: entry => GENERATED.has(entry) }).map(file => join(path, file))
    for (const file of files.sort()) if (statSync(file).isFile()) hash.update(relative(root, file)).update(readFileSync(file))
  }
  return hash.digest('hex')
}
